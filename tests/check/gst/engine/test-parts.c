/* gst-spdl: tests of the executor with tasks that consist of asynchronous parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor.h"

#include "tests/check/support/wait.h"

/* Parts do not finish by themselves: the test finishes them, and observes which
 * ones start then. */

#define GROUP 32

typedef struct {
  SpdlTask task;
  guint number;
  SpdlTask parts[GROUP];
  SpdlTask *pointers[GROUP];
} Group;

typedef struct {
  SpdlExecutor executor;
  SpdlMutex lock;
  SpdlCond cond;
  GQueue pending; /* of SpdlTask, oldest first */
  guint n_begun;
  gint n_put;
  gint n_discarded;
  gint n_passed;
  guint n_groups; /* to put */
  gboolean may_return;
  gint is_stopped; /* atomic */
} World;

static gboolean
run (gpointer user_data, SpdlTask *task, gpointer *slot)
{
  World *w = user_data;

  spdl_mutex_lock (&w->lock);
  g_queue_push_tail (&w->pending, task);
  w->n_begun++;
  spdl_cond_broadcast (&w->cond);
  spdl_mutex_unlock (&w->lock);
  return FALSE;
}

static void
close_slot (gpointer user_data, gpointer slot)
{
}

static void
discard (gpointer user_data, SpdlEntry *entry)
{
  g_atomic_int_inc (&((World *) user_data)->n_discarded);
  g_free (entry);
}

static const SpdlExecutorFuncs funcs = { run, close_slot, discard };

static World *
world_new (guint concurrency, guint queue_size, SpdlOrder order)
{
  World *w = g_new0 (World, 1);

  spdl_mutex_init (&w->lock);
  spdl_cond_init (&w->cond);
  spdl_executor_init (&w->executor, &funcs, w);
  spdl_executor_set_concurrency (&w->executor, concurrency);
  spdl_executor_set_limits (&w->executor, queue_size, 0);
  spdl_executor_start (&w->executor, spdl_pool_new (), order, NULL);
  return w;
}

static void
world_free (World *w)
{
  spdl_executor_stop (&w->executor);
  spdl_executor_clear (&w->executor);
  g_assert_cmpuint (w->pending.length, ==, 0);
  spdl_cond_clear (&w->cond);
  spdl_mutex_clear (&w->lock);
  g_free (w);
}

static SpdlExecutorStatus
put_group (World *w, guint number, guint n_parts)
{
  Group *group = g_new0 (Group, 1);
  SpdlExecutorStatus status;

  group->number = number;
  group->task.parts = group->pointers;
  group->task.n_parts = n_parts;
  for (guint i = 0; i < n_parts; i++) {
    group->parts[i].n_items = 1;
    group->pointers[i] = &group->parts[i];
  }
  status = spdl_executor_put (&w->executor, &group->task.entry);
  if (status == SPDL_EXECUTOR_OK)
    g_atomic_int_inc (&w->n_put);
  else
    g_free (group);
  return status;
}

static gpointer
produce (gpointer data)
{
  World *w = data;

  for (guint i = 0; i < w->n_groups; i++)
    if (put_group (w, i, GROUP) != SPDL_EXECUTOR_OK)
      break;
  return NULL;
}

static void
wait_until_begun (World *w, guint n)
{
  spdl_mutex_lock (&w->lock);
  while (w->n_begun < n)
    spdl_cond_wait (&w->cond, &w->lock);
  g_assert_cmpuint (w->n_begun, ==, n);
  spdl_mutex_unlock (&w->lock);
}

/* Finishes the @nth pending task, counted from the oldest. */
static void
finish_nth (World *w, guint nth)
{
  SpdlTask *task;

  spdl_mutex_lock (&w->lock);
  task = g_queue_pop_nth (&w->pending, nth);
  spdl_mutex_unlock (&w->lock);
  g_assert_nonnull (task);
  spdl_executor_finish (&w->executor, task);
}

static Group *
take (World *w, Group *passed)
{
  SpdlExecutorStatus status;
  SpdlEntry *entry = spdl_executor_take (
      &w->executor, passed ? &passed->task.entry : NULL, &status);

  g_free (passed);
  return (Group *) entry;
}

/* Thread that takes all entries until a flush. */
typedef struct {
  World *world;
  GArray *numbers; /* of guint: numbers of the groups */
} Consumer;

static gpointer
consume (gpointer data)
{
  Consumer *c = data;
  Group *group = NULL;

  while ((group = take (c->world, group))) {
    g_array_append_val (c->numbers, group->number);
    g_atomic_int_inc (&c->world->n_passed);
    g_assert_cmpuint (group->task.n_done, ==, group->task.n_parts);
  }
  return NULL;
}

static GThread *
start_consumer (Consumer *c, World *w)
{
  c->world = w;
  c->numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  return g_thread_new ("consumer", consume, c);
}

static void
assert_taken (Consumer *c, guint n)
{
  g_assert_cmpuint (c->numbers->len, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (g_array_index (c->numbers, guint, i), ==, i);
  g_array_unref (c->numbers);
}

/* With enough work, exactly `concurrency` parts run, also across groups. A
 * group is delivered when its last part is done. */
static void
test_concurrency (void)
{
  World *w = world_new (16, 2, SPDL_ORDER_COMPLETION);
  Consumer c;
  GThread *producer, *consumer = start_consumer (&c, w);
  SpdlMeterStats stats;

  w->n_groups = 5;
  producer = g_thread_new ("producer", produce, w);
  for (guint i = 0; i < 5 * GROUP; i++) {
    wait_until_begun (w, MIN (16 + i, 5 * GROUP));
    if (i % 50 == 0)
      wait_until_asleep ();
    wait_until_begun (w, MIN (16 + i, 5 * GROUP));
    finish_nth (w, 0);
  }
  g_thread_join (producer);
  wait_until (g_atomic_int_get (&w->n_passed) == 5);
  spdl_executor_take_figures (&w->executor, FALSE, &stats);
  g_assert_cmpuint (stats.num_tasks, ==, 5 * GROUP);
  g_assert_cmpuint (stats.num_items, ==, 5 * GROUP);
  spdl_executor_flush_start (&w->executor);
  g_thread_join (consumer);
  assert_taken (&c, 5);
  world_free (w);
}

/* A finished group occupies the ring until it is taken, so that a consumer that
 * stops causes backpressure soon. */
static void
test_room (void)
{
  World *w = world_new (4, 2, SPDL_ORDER_COMPLETION);
  Consumer c;
  GThread *thread, *consumer;

  w->n_groups = 10;
  thread = g_thread_new ("producer", produce, w);
  for (guint i = 0; i < 2 * GROUP; i++) {
    wait_until_begun (w, MIN (4 + i, 2 * GROUP));
    finish_nth (w, 0);
  }
  wait_until_asleep ();
  g_assert_cmpint (g_atomic_int_get (&w->n_put), ==, 2);
  consumer = start_consumer (&c, w);
  wait_until_begun (w, 2 * GROUP + 4);
  spdl_executor_flush_start (&w->executor);
  g_thread_join (thread);
  g_thread_join (consumer);
  for (guint i = 0; i < 4; i++)
    finish_nth (w, 0);
  assert_taken (&c, 2);
  world_free (w);
}

/* One slow part in each of many groups delays only these groups. */
static void
test_stragglers (void)
{
  World *w = world_new (8, 2, SPDL_ORDER_COMPLETION);
  Consumer c;
  GThread *producer, *consumer = start_consumer (&c, w);

  w->n_groups = 7;
  producer = g_thread_new ("producer", produce, w);
  for (guint i = 0; i < 7; i++) /* all except the first part of group i */
    for (guint j = 1; j < GROUP; j++) {
      wait_until_begun (w, MIN (i * GROUP + j + 7 - i, 7 * GROUP));
      finish_nth (w, i + 1);
    }
  g_thread_join (producer);
  g_assert_cmpuint (c.numbers->len, ==, 0);
  for (guint i = 0; i < 7; i++)
    finish_nth (w, 0);
  wait_until (g_atomic_int_get (&w->n_passed) == 7);
  spdl_executor_flush_start (&w->executor);
  g_thread_join (consumer);
  assert_taken (&c, 7);
  world_free (w);
}

static void
test_order (gconstpointer data)
{
  const SpdlOrder order = GPOINTER_TO_INT (data);
  World *w = world_new (4, 2, order);
  Group *group;

  put_group (w, 0, 2);
  put_group (w, 1, 2);
  wait_until_begun (w, 4);
  finish_nth (w, 1); /* group 0 is not complete */
  finish_nth (w, 2);
  finish_nth (w, 1); /* group 1 is complete */
  if (order == SPDL_ORDER_INPUT)
    finish_nth (w, 0);
  group = take (w, NULL);
  g_assert_cmpuint (group->number, ==, order == SPDL_ORDER_INPUT ? 0 : 1);
  if (order == SPDL_ORDER_COMPLETION)
    finish_nth (w, 0);
  group = take (w, group);
  g_assert_cmpuint (group->number, ==, order == SPDL_ORDER_INPUT ? 1 : 0);
  g_free (group);
  world_free (w);
}

/* A flush starts no further part and waits for running ones. */
static void
test_flush (void)
{
  World *w = world_new (3, 0, SPDL_ORDER_COMPLETION);

  put_group (w, 0, GROUP);
  wait_until_begun (w, 3);
  spdl_executor_flush_start (&w->executor);
  for (guint i = 0; i < 3; i++)
    finish_nth (w, 0);
  spdl_executor_flush_stop (&w->executor);
  g_assert_cmpint (g_atomic_int_get (&w->n_discarded), ==, 1);
  wait_until_begun (w, 3);

  put_group (w, 1, 2);
  wait_until_begun (w, 5);
  finish_nth (w, 0);
  finish_nth (w, 0);
  g_free (take (w, NULL));
  world_free (w);
}

/* After closing, no further part starts, and the group is delivered with the
 * parts that had started. */
static void
test_close (gconstpointer data)
{
  const guint n_done_before = GPOINTER_TO_UINT (data);
  World *w = world_new (4, 2, SPDL_ORDER_COMPLETION);
  SpdlExecutorStatus status;
  Group *group;

  put_group (w, 0, 5 + n_done_before);
  for (guint i = 0; i < n_done_before; i++) {
    wait_until_begun (w, 4 + i);
    finish_nth (w, 0);
  }
  wait_until_begun (w, 4 + n_done_before);
  put_group (w, 1, 3);
  spdl_executor_close (&w->executor);
  g_assert_cmpint (g_atomic_int_get (&w->n_discarded), ==, 1);
  for (guint i = 0; i < 4; i++)
    finish_nth (w, 0);
  group = take (w, NULL);
  g_assert_cmpuint (group->number, ==, 0);
  g_assert_cmpuint (group->task.n_done, ==, 4 + n_done_before);
  g_assert_null (
      spdl_executor_take (&w->executor, &group->task.entry, &status));
  g_assert_cmpint (status, ==, SPDL_EXECUTOR_CLOSED);
  g_assert_cmpint (put_group (w, 2, 1), ==, SPDL_EXECUTOR_CLOSED);
  g_free (group);
  wait_until_begun (w, 4 + n_done_before);
  world_free (w);
}

static gboolean
run_and_linger (gpointer user_data, SpdlTask *task, gpointer *slot)
{
  World *w = user_data;

  run (user_data, task, slot);
  spdl_mutex_lock (&w->lock);
  while (!w->may_return)
    spdl_cond_wait (&w->cond, &w->lock);
  spdl_mutex_unlock (&w->lock);
  return FALSE;
}

static gpointer
stop (gpointer data)
{
  World *w = data;

  spdl_executor_stop (&w->executor);
  g_atomic_int_set (&w->is_stopped, TRUE);
  return NULL;
}

/* A stop waits for the thread of a task that has ended elsewhere; it belongs to
 * a pool that lives on. */
static void
test_stop (void)
{
  static const SpdlExecutorFuncs lingering = { run_and_linger, close_slot,
    discard };
  SpdlPool *pool = spdl_pool_get_shared ("lingering", 1, NULL);
  World *w = g_new0 (World, 1);
  GThread *thread;

  spdl_mutex_init (&w->lock);
  spdl_cond_init (&w->cond);
  spdl_executor_init (&w->executor, &lingering, w);
  spdl_executor_start (&w->executor,
      spdl_pool_get_shared ("lingering", 1, NULL), SPDL_ORDER_COMPLETION, NULL);
  put_group (w, 0, 1);
  wait_until_begun (w, 1);
  finish_nth (w, 0);
  thread = g_thread_new ("stop", stop, w);
  wait_until_asleep ();
  g_assert_false (g_atomic_int_get (&w->is_stopped));
  spdl_mutex_lock (&w->lock);
  w->may_return = TRUE;
  spdl_cond_broadcast (&w->cond);
  spdl_mutex_unlock (&w->lock);
  g_thread_join (thread);
  g_assert_cmpint (w->n_discarded, ==, 1);
  world_free (w);
  spdl_pool_unref (pool);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/parts/concurrency", test_concurrency);
  g_test_add_func ("/parts/room", test_room);
  g_test_add_func ("/parts/stragglers", test_stragglers);
  g_test_add_data_func ("/parts/order/completion",
      GINT_TO_POINTER (SPDL_ORDER_COMPLETION), test_order);
  g_test_add_data_func (
      "/parts/order/input", GINT_TO_POINTER (SPDL_ORDER_INPUT), test_order);
  g_test_add_func ("/parts/flush", test_flush);
  g_test_add_func ("/parts/stop", test_stop);
  g_test_add_data_func ("/parts/close/first", GUINT_TO_POINTER (0), test_close);
  g_test_add_data_func ("/parts/close/later", GUINT_TO_POINTER (2), test_close);
  return g_test_run ();
}
