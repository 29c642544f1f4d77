/* gst-spdl: tests of the executor and its pools
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/check/support/wait.h"

typedef struct {
  SpdlTask task;
  guint number;
  guint sleep_us;
} Job;

typedef struct {
  SpdlExecutor *executor;
  /* Gate at which tasks wait if `gated` is set. */
  SpdlMutex lock;
  SpdlCond cond;
  gboolean gated;
  guint gate_from; /* first task that waits */
  guint n_running;
  guint max_running;
  guint n_begun;
  guint n_slots;
  guint n_discarded;
  GArray *begun; /* of guint, in order */
} World;

static gboolean
run (gpointer user_data, SpdlTask *task, gpointer *slot)
{
  World *w = user_data;
  Job *job = (Job *) task;

  spdl_mutex_lock (&w->lock);
  if (!*slot) {
    *slot = g_malloc (1);
    w->n_slots++;
  }
  w->n_begun++;
  w->n_running++;
  w->max_running = MAX (w->max_running, w->n_running);
  g_array_append_val (w->begun, job->number);
  spdl_cond_broadcast (&w->cond);
  while (w->gated && job->number >= w->gate_from)
    spdl_cond_wait (&w->cond, &w->lock);
  spdl_mutex_unlock (&w->lock);

  if (job->sleep_us)
    usleep (job->sleep_us);
  spdl_mutex_lock (&w->lock);
  w->n_running--;
  spdl_cond_broadcast (&w->cond);
  spdl_mutex_unlock (&w->lock);
  return TRUE;
}

static void
close_slot (gpointer user_data, gpointer slot)
{
  World *w = user_data;

  spdl_mutex_lock (&w->lock);
  w->n_slots--;
  spdl_mutex_unlock (&w->lock);
  g_free (slot);
}

static void
discard (gpointer user_data, SpdlEntry *entry)
{
  World *w = user_data;

  spdl_mutex_lock (&w->lock);
  w->n_discarded++;
  spdl_mutex_unlock (&w->lock);
  g_free (entry);
}

static const SpdlExecutorFuncs funcs = { run, close_slot, discard };

static World *
world_new (guint concurrency, guint queue_size)
{
  World *w = g_new0 (World, 1);

  spdl_mutex_init (&w->lock);
  spdl_cond_init (&w->cond);
  w->begun = g_array_new (FALSE, FALSE, sizeof (guint));
  w->executor = g_new0 (SpdlExecutor, 1);
  spdl_executor_init (w->executor, &funcs, w);
  spdl_executor_set_concurrency (w->executor, concurrency);
  spdl_executor_set_limits (w->executor, queue_size, 0);
  return w;
}

static void
world_start (World *w, SpdlOrder order)
{
  spdl_executor_start (w->executor, spdl_pool_new (), order, NULL);
}

static void
world_free (World *w)
{
  spdl_executor_stop (w->executor);
  g_assert_cmpuint (w->n_slots, ==, 0);
  spdl_executor_clear (w->executor);
  g_free (w->executor);
  g_array_unref (w->begun);
  spdl_cond_clear (&w->cond);
  spdl_mutex_clear (&w->lock);
  g_free (w);
}

static void
set_gate (World *w, gboolean closed)
{
  spdl_mutex_lock (&w->lock);
  w->gated = closed;
  spdl_cond_broadcast (&w->cond);
  spdl_mutex_unlock (&w->lock);
}

static void
wait_until_begun (World *w, guint n)
{
  spdl_mutex_lock (&w->lock);
  while (w->n_begun < n)
    spdl_cond_wait (&w->cond, &w->lock);
  spdl_mutex_unlock (&w->lock);
}

static guint
get_begun (World *w)
{
  guint n;

  spdl_mutex_lock (&w->lock);
  n = w->n_begun;
  spdl_mutex_unlock (&w->lock);
  return n;
}

static Job *
job_new (SpdlEntryKind kind, guint number, guint sleep_us)
{
  Job *job = g_new0 (Job, 1);

  job->task.entry.kind = kind;
  job->task.entry.bytes = 10;
  job->task.n_items = 1;
  job->number = number;
  job->sleep_us = sleep_us;
  return job;
}

static SpdlExecutorStatus
put (World *w, SpdlEntryKind kind, guint number, guint sleep_us)
{
  Job *job = job_new (kind, number, sleep_us);
  const SpdlExecutorStatus status =
      spdl_executor_put (w->executor, &job->task.entry);

  if (status != SPDL_EXECUTOR_OK)
    g_free (job);
  return status;
}

/* Thread that puts tasks until it is stopped. */
typedef struct {
  World *world;
  guint n;
  guint random_us;
  guint barrier_every;
  gint n_put;
  SpdlExecutorStatus status;
} Producer;

static gpointer
produce (gpointer data)
{
  Producer *p = data;
  GRand *rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < p->n; i++) {
    const gboolean barrier =
        p->barrier_every && i % p->barrier_every == p->barrier_every - 1;

    p->status = put (p->world, barrier ? SPDL_ENTRY_BARRIER : SPDL_ENTRY_TASK,
        i, p->random_us ? g_rand_int_range (rand, 0, p->random_us) : 0);
    if (p->status != SPDL_EXECUTOR_OK)
      break;
    g_atomic_int_inc (&p->n_put);
  }
  g_rand_free (rand);
  return NULL;
}

/* Takes @n entries and returns their numbers. */
static GArray *
take_n (World *w, guint n)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  SpdlEntry *passed = NULL;
  SpdlExecutorStatus status;

  for (guint i = 0; i < n; i++) {
    SpdlEntry *entry = spdl_executor_take (w->executor, passed, &status);

    g_free (passed);
    g_assert_nonnull (entry);
    g_array_append_val (numbers, ((Job *) entry)->number);
    passed = entry;
  }
  /* Returns the last entry as well. */
  if (passed) {
    spdl_executor_flush_start (w->executor);
    g_assert_null (spdl_executor_take (w->executor, passed, &status));
    g_free (passed);
  }
  return numbers;
}

static int
compare (const void *a, const void *b)
{
  return (int) *(const guint *) a - (int) *(const guint *) b;
}

static void
test_orders (gconstpointer data)
{
  const guint concurrency = GPOINTER_TO_UINT (data);

  for (SpdlOrder order = 0; order <= SPDL_ORDER_INPUT; order++) {
    World *w = world_new (concurrency, 3);
    Producer p = { w, 2000, 100, 50 };
    GThread *thread;
    g_autoptr (GArray) out = NULL;

    world_start (w, order);
    thread = g_thread_new ("producer", produce, &p);
    out = take_n (w, p.n);
    g_thread_join (thread);
    for (guint i = 0; i < p.n; i++) {
      const guint number = g_array_index (out, guint, i);

      if (order == SPDL_ORDER_INPUT)
        g_assert_cmpuint (number, ==, i);
      else /* between the same barriers */
        g_assert_cmpuint (number / 50, ==, i / 50);
    }
    qsort (out->data, out->len, sizeof (guint), compare);
    for (guint i = 0; i < p.n; i++)
      g_assert_cmpuint (g_array_index (out, guint, i), ==, i);
    spdl_mutex_lock (&w->lock);
    g_assert_cmpuint (w->max_running, <=, concurrency);
    spdl_mutex_unlock (&w->lock);
    world_free (w);
  }
}

/* With enough tasks, exactly `concurrency` of them run, and at most concurrency
 * + queue-size are held. */
static void
test_limits (void)
{
  static const guint settings[][2] = { { 1, 0 }, { 1, 2 }, { 4, 16 },
    { 8, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    const guint concurrency = settings[i][0], queue_size = settings[i][1];
    World *w = world_new (concurrency, queue_size);
    Producer p = { w, 1000 };
    GThread *thread;
    g_autoptr (GArray) out = NULL;

    w->gated = TRUE;
    world_start (w, SPDL_ORDER_COMPLETION);
    thread = g_thread_new ("producer", produce, &p);
    wait_until_begun (w, concurrency);
    wait_until_asleep ();
    g_assert_cmpuint (
        g_atomic_int_get (&p.n_put), ==, concurrency + queue_size);
    g_assert_cmpuint (get_begun (w), ==, concurrency);

    /* Without a consumer, finished tasks are held as well. */
    set_gate (w, FALSE);
    wait_until_begun (w, concurrency + queue_size);
    wait_until_asleep ();
    g_assert_cmpuint (
        g_atomic_int_get (&p.n_put), ==, concurrency + queue_size);
    out = take_n (w, 500);
    spdl_executor_flush_start (w->executor);
    g_thread_join (thread);
    spdl_mutex_lock (&w->lock);
    g_assert_cmpuint (w->max_running, ==, concurrency);
    spdl_mutex_unlock (&w->lock);
    world_free (w);
  }
}

/* Results of short tasks may be held back briefly to deliver several at once,
 * but not behind a task that turns out to be long. */
static void
test_kept_back (void)
{
  for (guint i = 0; i < 20; i++) {
    World *w = world_new (1, 32);

    w->gated = TRUE;
    w->gate_from = 24;
    world_start (w, i % 2 ? SPDL_ORDER_INPUT : SPDL_ORDER_COMPLETION);
    produce (&(Producer){ w, 30, 200 });
    g_array_unref (take_n (w, 24));
    set_gate (w, FALSE);
    world_free (w);
  }
}

/* One thread handles short tasks. When they become long, all threads start,
 * even without further put or take calls. */
static void
test_short_then_long (void)
{
  World *w = world_new (4, 8);

  world_start (w, SPDL_ORDER_INPUT);
  for (guint i = 0; i < 100; i++) {
    produce (&(Producer){ w, 10 });
    g_array_unref (take_n (w, 10));
    spdl_executor_flush_stop (w->executor);
  }
  for (guint i = 0; i < 20; i++) {
    set_gate (w, TRUE);
    spdl_mutex_lock (&w->lock);
    w->n_begun = 0;
    spdl_mutex_unlock (&w->lock);
    produce (&(Producer){ w, 5 });
    wait_until_begun (w, 4);
    set_gate (w, FALSE);
    g_array_unref (take_n (w, 5));
    spdl_executor_flush_stop (w->executor);
    /* The tasks are short again. */
    for (guint k = 0; k < 10; k++) {
      produce (&(Producer){ w, 10 });
      g_array_unref (take_n (w, 10));
      spdl_executor_flush_stop (w->executor);
    }
  }
  world_free (w);
}

static void
test_max_bytes (void)
{
  World *w = world_new (4, 16);
  Producer p = { w, 100 };
  GThread *thread;

  spdl_executor_set_concurrency (w->executor, 4);
  spdl_executor_set_limits (w->executor, 16, 35); /* 10 bytes each */
  w->gated = TRUE;
  world_start (w, SPDL_ORDER_INPUT);
  thread = g_thread_new ("producer", produce, &p);
  wait_until_begun (w, 3);
  wait_until_asleep ();
  g_assert_cmpint (g_atomic_int_get (&p.n_put), ==, 3);
  /* A task above the limit runs alone, without a deadlock. */
  spdl_executor_set_concurrency (w->executor, 4);
  spdl_executor_set_limits (w->executor, 16, 5);
  set_gate (w, FALSE);
  g_array_unref (take_n (w, 100));
  g_thread_join (thread);
  world_free (w);
}

static void
test_concurrency_changes (void)
{
  World *w = world_new (2, 20);
  Producer p = { w, 1000 };
  GThread *thread;

  w->gated = TRUE;
  world_start (w, SPDL_ORDER_INPUT);
  thread = g_thread_new ("producer", produce, &p);
  wait_until_begun (w, 2);
  spdl_executor_set_concurrency (w->executor, 6);
  spdl_executor_set_limits (w->executor, 20, 0);
  wait_until_begun (w, 6);
  wait_until_asleep ();
  g_assert_cmpuint (get_begun (w), ==, 6);

  /* Reducing to 1: no new task starts before the others have finished, and
   * excess slots are closed. */
  spdl_executor_set_concurrency (w->executor, 1);
  spdl_executor_set_limits (w->executor, 20, 0);
  spdl_mutex_lock (&w->lock);
  w->max_running = 0;
  spdl_mutex_unlock (&w->lock);
  set_gate (w, FALSE);
  spdl_mutex_lock (&w->lock);
  while (w->n_running > 1)
    spdl_cond_wait (&w->cond, &w->lock);
  w->max_running = 0;
  spdl_mutex_unlock (&w->lock);
  g_array_unref (take_n (w, 900));
  spdl_executor_flush_start (w->executor);
  g_thread_join (thread);
  spdl_mutex_lock (&w->lock);
  g_assert_cmpuint (w->max_running, <=, 1);
  spdl_mutex_unlock (&w->lock);
  world_free (w);
}

static gpointer
take_one (gpointer data)
{
  SpdlExecutorStatus status;

  g_assert_null (
      spdl_executor_take (((World *) data)->executor, NULL, &status));
  return GUINT_TO_POINTER (status);
}

/* A flush interrupts waiting put and take calls and drops everything; the
 * executor can then be used again. */
/* Tasks are held back at any concurrency and start when allowed. No task is
 * lost, and no slot is closed. */
static void
test_allow (void)
{
  World *w = world_new (4, 8);
  SpdlInterval counts;

  world_start (w, SPDL_ORDER_INPUT);
  spdl_executor_allow (w->executor, 0);
  for (guint i = 0; i < 8; i++)
    g_assert_cmpint (put (w, SPDL_ENTRY_TASK, i, 0), ==, SPDL_EXECUTOR_OK);
  g_assert_cmpuint (spdl_executor_count (w->executor, &counts), ==, 0);
  g_assert_cmpuint (get_begun (w), ==, 0);

  set_gate (w, TRUE);
  spdl_executor_allow (w->executor, 2);
  wait_until_begun (w, 2);
  g_assert_cmpuint (spdl_executor_count (w->executor, &counts), ==, 2);
  g_assert_cmpuint (counts.items, ==, 2);
  g_assert_cmpuint (counts.tasks, ==, 0);
  g_assert_cmpuint (counts.occupied, >, 0);
  spdl_executor_allow (w->executor, 1);
  set_gate (w, FALSE);
  g_array_unref (take_n (w, 8));
  g_assert_cmpuint (w->max_running, ==, 2);
  spdl_executor_count (w->executor, &counts);
  g_assert_cmpuint (counts.tasks, ==, 8);
  g_assert_cmpuint (counts.timed, ==, 8);
  g_assert_cmpuint (w->n_slots, ==, 2);

  /* Flush and close do not wait for tasks that may not start. */
  spdl_executor_flush_stop (w->executor);
  spdl_executor_allow (w->executor, 0);
  g_assert_cmpint (put (w, SPDL_ENTRY_TASK, 8, 0), ==, SPDL_EXECUTOR_OK);
  spdl_executor_flush_start (w->executor);
  spdl_executor_flush_stop (w->executor);
  g_assert_cmpuint (w->n_discarded, ==, 1);
  world_free (w);
}

static void
test_flush (void)
{
  World *w = world_new (2, 2);
  Producer p = { w, 100 };
  GThread *producer, *taker;

  w->gated = TRUE;
  world_start (w, SPDL_ORDER_INPUT);
  for (guint round = 0; round < 20; round++) {
    p.n_put = 0;
    spdl_mutex_lock (&w->lock);
    w->gated = TRUE;
    w->n_begun = 0;
    w->n_discarded = 0;
    spdl_mutex_unlock (&w->lock);
    producer = g_thread_new ("producer", produce, &p);
    taker = g_thread_new ("taker", take_one, w);
    wait_until_begun (w, 2);
    spdl_executor_flush_start (w->executor);
    g_assert_cmpuint (
        GPOINTER_TO_UINT (g_thread_join (taker)), ==, SPDL_EXECUTOR_FLUSHING);
    g_thread_join (producer);
    g_assert_cmpint (p.status, ==, SPDL_EXECUTOR_FLUSHING);
    set_gate (w, FALSE);
    spdl_executor_flush_stop (w->executor);
    g_assert_cmpuint (w->n_discarded, ==, p.n_put);
    g_assert_cmpuint (get_begun (w), ==, 2);
  }
  producer = g_thread_new ("producer", produce, &p);
  g_array_unref (take_n (w, 100));
  g_thread_join (producer);
  world_free (w);
}

/* After closing, running and finished tasks are delivered, and nothing else. */
static void
test_close (void)
{
  World *w = world_new (3, 5);
  SpdlExecutorStatus status;
  SpdlEntry *entry, *passed = NULL;
  guint n = 0;

  w->gated = TRUE;
  world_start (w, SPDL_ORDER_INPUT);
  for (guint i = 0; i < 8; i++)
    put (w, SPDL_ENTRY_TASK, i, 0);
  wait_until_begun (w, 3);
  spdl_executor_close (w->executor);
  g_assert_cmpuint (w->n_discarded, ==, 5);
  g_assert_cmpint (put (w, SPDL_ENTRY_TASK, 9, 0), ==, SPDL_EXECUTOR_CLOSED);
  g_assert_cmpint (put (w, SPDL_ENTRY_BARRIER, 9, 0), ==, SPDL_EXECUTOR_CLOSED);
  set_gate (w, FALSE);
  while ((entry = spdl_executor_take (w->executor, passed, &status))) {
    g_free (passed);
    g_assert_cmpuint (((Job *) entry)->number, ==, n++);
    passed = entry;
  }
  g_free (passed);
  g_assert_cmpint (status, ==, SPDL_EXECUTOR_CLOSED);
  g_assert_cmpuint (n, ==, 3);
  world_free (w);
}

/* The executor can be stopped at random times, with both sides busy, and
 * restarted. */
static void
test_stop_any_time (void)
{
  GRand *rand = g_rand_new_with_seed (11);
  World *w = world_new (3, 2);

  for (guint i = 0; i < 100; i++) {
    Producer p = { w, 1000, 300 };
    GThread *producer;
    SpdlExecutorStatus status;
    SpdlEntry *entry, *passed = NULL;
    guint left = g_rand_int_range (rand, 0, 30);

    world_start (w, i % 2);
    producer = g_thread_new ("producer", produce, &p);
    while (left-- > 0 &&
           (entry = spdl_executor_take (w->executor, passed, &status))) {
      g_free (passed);
      passed = entry;
    }
    spdl_executor_flush_start (w->executor);
    g_thread_join (producer);
    g_free (passed);
    spdl_executor_stop (w->executor);
    g_assert_cmpuint (w->n_slots, ==, 0);
    g_assert_cmpuint (w->n_running, ==, 0);
  }
  g_rand_free (rand);
  world_free (w);
}

static void
test_figures (void)
{
  World *w = world_new (2, 2);
  SpdlMeterStats f;

  world_start (w, SPDL_ORDER_INPUT);
  Producer p = { w, 10 };
  produce (&(Producer){ w, 4 });
  g_array_unref (take_n (w, 4));
  spdl_executor_take_figures (w->executor, TRUE, &f);
  g_assert_cmpuint (f.num_tasks, ==, 4);
  g_assert_cmpuint (f.num_items, ==, 4);
  g_assert_cmpuint (f.bytes_in, ==, 40);
  spdl_executor_flush_stop (w->executor);
  p.n = 3;
  produce (&p);
  g_array_unref (take_n (w, 3));
  spdl_executor_take_figures (w->executor, TRUE, &f);
  g_assert_cmpuint (f.num_tasks, ==, 3);
  spdl_executor_take_figures (w->executor, FALSE, &f);
  g_assert_cmpuint (f.num_tasks, ==, 7);
  spdl_executor_stop (w->executor);
  /* Statistics are readable after the end and do not change. */
  const guint64 elapsed = f.elapsed;
  spdl_executor_take_figures (w->executor, FALSE, &f);
  g_assert_cmpuint (f.num_tasks, ==, 7);
  g_assert_cmpuint (f.elapsed, >=, elapsed);
  world_free (w);
}

static void
world_start_shared (World *w, guint n_threads)
{
  SpdlPool *pool = spdl_pool_get_shared ("shared", n_threads, NULL);

  g_assert_nonnull (pool);
  spdl_executor_start (w->executor, pool, SPDL_ORDER_INPUT, NULL);
}

/* On a single thread, the client that was added first has priority. */
static void
test_priority (void)
{
  World *sink = world_new (1, 10), *source = world_new (1, 10);

  world_start_shared (sink, 1);
  world_start_shared (source, 1);
  /* Both record started tasks in the sink's list. */
  g_array_unref (source->begun);
  source->begun = g_array_ref (sink->begun);
  sink->gated = TRUE;
  put (sink, SPDL_ENTRY_TASK, 0, 0);
  wait_until_begun (sink, 1);
  for (guint i = 1; i <= 3; i++)
    put (source, SPDL_ENTRY_TASK, 100 + i, 0);
  for (guint i = 1; i <= 3; i++)
    put (sink, SPDL_ENTRY_TASK, i, 0);
  set_gate (sink, FALSE);
  wait_until_begun (source, 3);
  g_array_unref (take_n (source, 3));
  g_array_unref (take_n (sink, 4));
  static const guint expected[] = { 0, 1, 2, 3, 101, 102, 103 };
  g_assert_cmpmem (sink->begun->data, sink->begun->len * sizeof (guint),
      expected, sizeof expected);
  world_free (source);
  world_free (sink);
}

/* Two stages share a thread, and one consumer stops: results of its stage fill
 * the ring, but the thread is not blocked, so the other stage continues. */
static void
test_shared_stopped_consumer (void)
{
  World *stuck = world_new (4, 2), *other = world_new (4, 2);
  Producer p = { stuck, 100 }, q = { other, 200 };
  GThread *stuck_producer, *other_producer;

  world_start_shared (stuck, 1);
  world_start_shared (other, 1);
  stuck_producer = g_thread_new ("producer", produce, &p);
  other_producer = g_thread_new ("producer", produce, &q);
  g_array_unref (take_n (other, 200));
  g_thread_join (other_producer);
  g_assert_cmpint (g_atomic_int_get (&p.n_put), <=, 6);
  g_array_unref (take_n (stuck, 100));
  g_thread_join (stuck_producer);
  world_free (stuck);
  world_free (other);
}

int
main (int argc, char **argv)
{
  static const guint concurrencies[] = { 1, 2, 8 };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (concurrencies); i++) {
    g_autofree gchar *name =
        g_strdup_printf ("/executor/orders/%u", concurrencies[i]);

    g_test_add_data_func (
        name, GUINT_TO_POINTER (concurrencies[i]), test_orders);
  }
  g_test_add_func ("/executor/limits", test_limits);
  g_test_add_func ("/executor/kept-back", test_kept_back);
  g_test_add_func ("/executor/short-then-long", test_short_then_long);
  g_test_add_func ("/executor/max-bytes", test_max_bytes);
  g_test_add_func ("/executor/concurrency-changes", test_concurrency_changes);
  g_test_add_func ("/executor/allow", test_allow);
  g_test_add_func ("/executor/flush", test_flush);
  g_test_add_func ("/executor/close", test_close);
  g_test_add_func ("/executor/stop-any-time", test_stop_any_time);
  g_test_add_func ("/executor/figures", test_figures);
  g_test_add_func ("/pool/priority", test_priority);
  g_test_add_func (
      "/pool/shared-stopped-consumer", test_shared_stopped_consumer);
  return g_test_run ();
}
