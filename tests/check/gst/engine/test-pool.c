/* gst-spdl: tests of the thread pool
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/cpus.h"
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pool/names", test_pool_names);
  g_test_add_func ("/pool/lent", test_lent);
  g_test_add_func ("/pool/policy", test_policy);
  return g_test_run ();
}
