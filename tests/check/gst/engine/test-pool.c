/* gst-spdl: tests of the thread pool
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/guest.h"
#include "gst/spdl/engine/pool.h"

#include <sched.h>

/* A client with one task, which inspects its thread. */
typedef struct {
  SpdlPoolClient client;
  SpdlPool *pool;
  SpdlCond cond;
  gboolean begun, done;
  int policy;
} Looker;

static gboolean
looker_is_runnable (SpdlPoolClient *client)
{
  return !((Looker *) client)->begun;
}

static void
looker_run (SpdlPoolClient *client, SpdlPoolThread *thread)
{
  Looker *self = (Looker *) client;

  self->begun = TRUE;
  self->policy = sched_getscheduler (0);
  self->done = TRUE;
  spdl_cond_broadcast (&self->cond);
}

static int
look_at_policy (void)
{
  Looker looker = { { 1, looker_is_runnable, looker_run }, spdl_pool_new () };

  spdl_cond_init (&looker.cond);
  spdl_pool_add_client (looker.pool, &looker.client);
  spdl_mutex_lock (&looker.pool->lock);
  spdl_pool_call_thread_unlocked (looker.pool);
  while (!looker.done)
    spdl_cond_wait (&looker.cond, &looker.pool->lock);
  spdl_mutex_unlock (&looker.pool->lock);
  spdl_pool_remove_client (looker.pool, &looker.client);
  spdl_pool_unref (looker.pool);
  spdl_cond_clear (&looker.cond);
  return looker.policy;
}

static gpointer
look_when_idle (gpointer policy)
{
  const struct sched_param param = { 0 };

  g_assert_cmpint (sched_setscheduler (0, SCHED_IDLE, &param), ==, 0);
  *(int *) policy = look_at_policy ();
  return NULL;
}

/* Workers use SCHED_BATCH, or SCHED_IDLE in the background, unless another
 * policy was chosen. */
static void
test_policy (void)
{
  int policy;

  g_assert_cmpint (look_at_policy (), ==, SCHED_BATCH);
  spdl_threads_set_background (TRUE);
  g_assert_cmpint (look_at_policy (), ==, SCHED_IDLE);
  spdl_threads_set_background (FALSE);
  g_assert_cmpint (look_at_policy (), ==, SCHED_BATCH);
  g_thread_join (g_thread_new ("idle", look_when_idle, &policy));
  g_assert_cmpint (policy, ==, SCHED_IDLE);
}

static gpointer
lend (gpointer policies)
{
  int *policy = policies;

  for (guint i = 0; i < 2; i++) {
    spdl_thread_set_batch_scheduling (TRUE);
    *policy++ = sched_getscheduler (0);
    spdl_thread_set_batch_scheduling (FALSE);
    *policy++ = sched_getscheduler (0);
  }
  return NULL;
}

/* A thread that is lent to a client has its previous policy afterwards. */
static void
test_lent (void)
{
  int policies[4];

  g_thread_join (g_thread_new ("lent", lend, policies));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (policies[i], ==, i % 2 ? SCHED_OTHER : SCHED_BATCH);
}

static void
test_pool_names (void)
{
  GError *error = NULL;
  SpdlPool *a = spdl_pool_get_shared ("test", 2, &error);
  SpdlPool *b = spdl_pool_get_shared ("test", 2, &error);

  g_assert_no_error (error);
  g_assert_true (a == b);
  g_assert_null (spdl_pool_get_shared ("test", 3, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  spdl_pool_unref (a);
  spdl_pool_unref (b);
  /* The pool is unused, so it can be created with another size. */
  a = spdl_pool_get_shared ("test", 3, &error);
  g_assert_no_error (error);
  spdl_pool_unref (a);
}

/* The task of a client, which lasts until the guest's work is done. */
typedef struct {
  SpdlPoolClient client;
  SpdlPool *pool;
  SpdlCond changed;
  gboolean begun, may_end, ended;
} Busy;

static gboolean
busy_is_runnable (SpdlPoolClient *client)
{
  return !((Busy *) client)->begun;
}

static void
busy_run (SpdlPoolClient *client, SpdlPoolThread *thread)
{
  Busy *self = (Busy *) client;

  self->begun = TRUE;
  spdl_cond_broadcast (&self->changed);
  while (!self->may_end)
    spdl_cond_wait (&self->changed, &self->pool->lock);
  self->ended = TRUE;
  spdl_cond_broadcast (&self->changed);
}

typedef struct {
  SpdlGuestWork work;
  pthread_t ran_in;
} Piece;

static void
run_piece (SpdlGuestWork *work)
{
  ((Piece *) work)->ran_in = pthread_self ();
}

/* The pool's threads do the work of a guest. If they are busy, it does the work
 * itself. */
static void
test_guest (void)
{
  Busy busy = { { 1, busy_is_runnable, busy_run }, spdl_pool_new () };
  Piece pieces[3] = { { { run_piece } }, { { run_piece } }, { { run_piece } } };
  SpdlGuest guest;

  spdl_cond_init (&busy.changed);
  spdl_pool_add_client (busy.pool, &busy.client);
  spdl_guest_init (&guest);
  spdl_guest_join (&guest, spdl_pool_ref (busy.pool));
  spdl_mutex_lock (&busy.pool->lock);
  spdl_pool_call_thread_unlocked (busy.pool);
  while (!busy.begun)
    spdl_cond_wait (&busy.changed, &busy.pool->lock);
  spdl_mutex_unlock (&busy.pool->lock);

  spdl_guest_give (&guest, &pieces[0].work);
  spdl_guest_give (&guest, &pieces[1].work);
  spdl_guest_wait (&guest);
  g_assert_true (pthread_equal (pieces[0].ran_in, pthread_self ()));
  g_assert_true (pthread_equal (pieces[1].ran_in, pthread_self ()));

  spdl_guest_give (&guest, &pieces[2].work);
  spdl_mutex_lock (&busy.pool->lock);
  busy.may_end = TRUE;
  spdl_cond_broadcast (&busy.changed);
  while (!busy.ended || guest.n_left > 0)
    spdl_cond_wait (busy.ended ? &guest.done : &busy.changed, &busy.pool->lock);
  spdl_mutex_unlock (&busy.pool->lock);
  spdl_guest_wait (&guest);
  g_assert_false (pthread_equal (pieces[2].ran_in, pthread_self ()));

  spdl_pool_remove_client (busy.pool, &busy.client);
  spdl_guest_clear (&guest);
  spdl_pool_unref (busy.pool);
  spdl_cond_clear (&busy.changed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pool/names", test_pool_names);
  g_test_add_func ("/pool/guest", test_guest);
  g_test_add_func ("/pool/lent", test_lent);
  g_test_add_func ("/pool/policy", test_policy);
  return g_test_run ();
}
