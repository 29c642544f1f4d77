/* gst-spdl: tests of statistics of whole pipelines with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Executors in a row with threads between them, as in a pipeline. Tasks sleep
 * on a virtual clock, which advances only when all threads sleep, so all
 * statistics are exact to the nanosecond on any machine.
 *
 * The last executor stands for the trainer: its queue is the sink's, its tasks
 * are training steps, and its worker's waiting time is that of the trainer.
 * These are SPDL's simulations, with queues of 2 and a trainer of 30 ms. */

#include "gst/spdl/engine/executor.h"

#include <string.h>
#include <unistd.h>

#define MS G_GUINT64_CONSTANT (1000000)
#define MAX_STAGES 5
#define MAX_SLEEPERS 32

typedef struct _Sim Sim;

typedef struct {
  Sim *sim;
  guint index;
  guint concurrency;
  guint64 sleep;
  gboolean hands_over; /* asynchronous tasks, without a thread */
  SpdlExecutor executor;
} Stage;

/* Thread before a stage, or after the last one. */
typedef struct {
  Sim *sim;
  guint index;
  GThread *thread;
} Link;

struct _Sim {
  guint n_stages;
  guint batch; /* number of results that form a task of the last stage */
  Stage stages[MAX_STAGES];
  Link links[MAX_STAGES + 1];

  guint64 now;   /* atomic */
  gint n_to_put; /* atomic; remaining tasks of the source */

  SpdlMutex lock;
  SpdlCond cond;
  gboolean quit;
  struct {
    const Stage *stage; /* NULL: unused */
    guint64 wake;
    SpdlTask *task; /* NULL: a thread sleeps */
  } sleepers[MAX_SLEEPERS];
};

static guint64
get_now (gpointer user_data)
{
  return __atomic_load_n (&((Sim *) user_data)->now, __ATOMIC_SEQ_CST);
}

/* Tasks */

static gboolean
run (gpointer user_data, SpdlTask *task, gpointer *slot)
{
  Stage *stage = user_data;
  Sim *sim = stage->sim;
  guint i = 0;

  spdl_mutex_lock (&sim->lock);
  while (sim->sleepers[i].stage)
    i++;
  sim->sleepers[i].stage = stage;
  sim->sleepers[i].wake = get_now (sim) + stage->sleep;
  sim->sleepers[i].task = stage->hands_over ? task : NULL;
  if (stage->hands_over) {
    spdl_mutex_unlock (&sim->lock);
    return FALSE;
  }
  while (get_now (sim) < sim->sleepers[i].wake && !sim->quit)
    spdl_cond_wait (&sim->cond, &sim->lock);
  sim->sleepers[i].stage = NULL;
  spdl_mutex_unlock (&sim->lock);
  return TRUE;
}

static void
close_slot (gpointer user_data, gpointer slot)
{
}

static void
discard (gpointer user_data, SpdlEntry *entry)
{
  g_free (entry);
}

static const SpdlExecutorFuncs funcs = { run, close_slot, discard };

static SpdlTask *
task_new (SpdlEntryKind kind)
{
  SpdlTask *task = g_new0 (SpdlTask, 1);

  task->entry.kind = kind;
  task->entry.bytes = 10;
  task->n_items = 1;
  task->bytes_out = 100;
  return task;
}

/* Threads between the stages */

/* Returns FALSE at the end. */
static gboolean
put (Stage *stage, SpdlEntryKind kind)
{
  SpdlTask *task = task_new (kind);

  if (spdl_executor_put (&stage->executor, &task->entry) == SPDL_EXECUTOR_OK)
    return TRUE;
  g_free (task);
  return FALSE;
}

static gpointer
feed (gpointer data)
{
  Link *link = data;
  Sim *sim = link->sim;

  while (g_atomic_int_add (&sim->n_to_put, -1) > 0)
    if (!put (&sim->stages[0], SPDL_ENTRY_TASK))
      return NULL;
  /* EOS does not count as an item. */
  put (&sim->stages[0], SPDL_ENTRY_BARRIER);
  return NULL;
}

static gpointer
hand_on (gpointer data)
{
  Link *link = data;
  Sim *sim = link->sim;
  Stage *before = &sim->stages[link->index - 1];
  Stage *after = link->index < sim->n_stages ? &sim->stages[link->index] : NULL;
  const guint batch = link->index == sim->n_stages - 1 ? sim->batch : 1;
  SpdlEntry *entry = NULL;
  guint n = 0;

  while (TRUE) {
    SpdlExecutorStatus status;
    SpdlEntry *next = spdl_executor_take (&before->executor, entry, &status);

    g_free (entry);
    if (!(entry = next))
      return NULL;
    if (entry->kind == SPDL_ENTRY_TASK && ++n % batch != 0)
      continue;
    if (after)
      put (after, entry->kind);
  }
}

static Sim *
sim_new (gint n_to_put, guint batch, guint n_stages, const guint (*stages)[3])
{
  Sim *sim = g_new0 (Sim, 1);
  const SpdlClock clock = { get_now, sim };

  sim->n_stages = n_stages;
  sim->batch = batch;
  sim->now = 1000 * MS;
  sim->n_to_put = n_to_put;
  spdl_mutex_init (&sim->lock);
  spdl_cond_init (&sim->cond);
  for (guint i = 0; i < n_stages; i++) {
    Stage *stage = &sim->stages[i];

    stage->sim = sim;
    stage->index = i;
    stage->sleep = stages[i][0] * MS;
    stage->concurrency = stages[i][1];
    stage->hands_over = stages[i][2];
    spdl_executor_init (&stage->executor, &funcs, stage);
    spdl_executor_set_concurrency (&stage->executor, stage->concurrency);
    spdl_executor_set_limits (&stage->executor, 2, 0);
    spdl_executor_start (
        &stage->executor, spdl_pool_new (), SPDL_ORDER_COMPLETION, &clock);
  }
  for (guint i = 0; i <= n_stages; i++) {
    sim->links[i].sim = sim;
    sim->links[i].index = i;
    sim->links[i].thread =
        g_thread_new ("link", i == 0 ? feed : hand_on, &sim->links[i]);
  }
  return sim;
}

/* Finishes asynchronous tasks that are due, or all of them. */
static void
wake_due (Sim *sim, gboolean all)
{
  for (guint i = 0; i < MAX_SLEEPERS; i++) {
    SpdlTask *task = NULL;
    SpdlExecutor *executor;

    spdl_mutex_lock (&sim->lock);
    if (sim->sleepers[i].stage && sim->sleepers[i].task &&
        (all || sim->sleepers[i].wake <= sim->now)) {
      task = sim->sleepers[i].task;
      executor = (SpdlExecutor *) &sim->sleepers[i].stage->executor;
      sim->sleepers[i].stage = NULL;
    }
    spdl_mutex_unlock (&sim->lock);
    if (task)
      spdl_executor_finish (executor, task);
  }
}

static void
sim_free (Sim *sim)
{
  for (guint i = 0; i < sim->n_stages; i++)
    spdl_executor_flush_start (&sim->stages[i].executor);
  spdl_mutex_lock (&sim->lock);
  sim->quit = TRUE;
  spdl_cond_broadcast (&sim->cond);
  spdl_mutex_unlock (&sim->lock);
  wake_due (sim, TRUE);
  for (guint i = 0; i <= sim->n_stages; i++)
    g_thread_join (sim->links[i].thread);
  for (guint i = 0; i < sim->n_stages; i++) {
    spdl_executor_stop (&sim->stages[i].executor);
    spdl_executor_clear (&sim->stages[i].executor);
  }
  spdl_cond_clear (&sim->cond);
  spdl_mutex_clear (&sim->lock);
  g_free (sim);
}

/* Clock */

/* Counts the sleeping tasks of @stage. Returns G_MAXUINT if one of them is
 * about to wake up. Simulation lock held. */
static guint
count_sleepers (const Sim *sim, const Stage *stage)
{
  guint n = 0;

  for (guint i = 0; i < MAX_SLEEPERS; i++) {
    if (sim->sleepers[i].stage != stage)
      continue;
    if (sim->sleepers[i].wake <= sim->now)
      return G_MAXUINT;
    n++;
  }
  return n;
}

/* Returns whether all workers of a stage sleep, in a task or without one. All
 * locks held. */
static gboolean
workers_sleep (Stage *stage, guint n_sleepers)
{
  const SpdlExecutor *e = &stage->executor;
  const SpdlPool *pool = e->pool;

  const guint in_threads = stage->hands_over ? 0 : n_sleepers;

  return !pool->waking && e->n_running == n_sleepers &&
         pool->threads->len == pool->n_idle + in_threads &&
         !e->client.runnable ((SpdlPoolClient *) &e->client);
}

/* Returns whether the thread before stage @i waits. All locks held. */
static gboolean
link_waits (const Sim *sim, guint i)
{
  if (i == 0 && g_atomic_int_get (&sim->n_to_put) < 0)
    return TRUE; /* it has put EOS, or is about to */
  return (i > 0 && sim->stages[i - 1].executor.taker_waits) ||
         (i < sim->n_stages && sim->stages[i].executor.waiting);
}

static gboolean
all_wait (Sim *sim)
{
  gboolean wait = TRUE;

  for (guint i = 0; i < sim->n_stages; i++)
    spdl_mutex_lock (&sim->stages[i].executor.pool->lock);
  spdl_mutex_lock (&sim->lock);
  for (guint i = 0; i <= sim->n_stages; i++)
    wait = wait && link_waits (sim, i);
  for (guint i = 0; i < sim->n_stages; i++)
    wait = wait && workers_sleep (
                       &sim->stages[i], count_sleepers (sim, &sim->stages[i]));
  spdl_mutex_unlock (&sim->lock);
  for (guint i = 0; i < sim->n_stages; i++)
    spdl_mutex_unlock (&sim->stages[i].executor.pool->lock);
  return wait;
}

/* Returns when the next task finishes; G_MAXUINT64 if none is running. */
static guint64
next_event (Sim *sim)
{
  guint64 next = G_MAXUINT64;

  spdl_mutex_lock (&sim->lock);
  for (guint i = 0; i < MAX_SLEEPERS; i++)
    if (sim->sleepers[i].stage)
      next = MIN (next, sim->sleepers[i].wake);
  spdl_mutex_unlock (&sim->lock);
  return next;
}

/* Advances the time to @ms after the start. */
static void
sim_run_until (Sim *sim, guint ms)
{
  const guint64 end = (1000 + ms) * MS;

  while (get_now (sim) < end) {
    while (!all_wait (sim))
      g_usleep (20);
    const guint64 now = MIN (next_event (sim), end);
    spdl_mutex_lock (&sim->lock);
    __atomic_store_n (&sim->now, now, __ATOMIC_SEQ_CST);
    spdl_cond_broadcast (&sim->cond);
    spdl_mutex_unlock (&sim->lock);
    wake_due (sim, FALSE);
  }
  while (!all_wait (sim))
    g_usleep (20);
}

static SpdlMeterStats
end_interval (Sim *sim, guint i)
{
  SpdlMeterStats stats;

  spdl_executor_take_figures (&sim->stages[i].executor, TRUE, &stats);
  return stats;
}

/* Expected statistics of a stage in a steady-state interval. Times in ms. */
typedef struct {
  guint64 n, put, get;
  double occupancy, push;
} Expected;

static void
assert_figures (const SpdlMeterStats *f, const Stage *stage, const Expected *e)
{
  g_test_message ("%" G_GUINT64_FORMAT " items, put %g, get %g, occupied %g, "
                  "pushing %g",
      f->num_items, f->ave_put_time / 1e6, f->ave_get_time / 1e6,
      f->occupancy_rate, f->push_rate);
  g_assert_cmpuint (f->num_items, ==, e->n);
  g_assert_cmpuint (f->num_tasks, ==, e->n);
  g_assert_cmpuint (f->bytes_in, ==, 10 * e->n);
  g_assert_cmpuint (f->bytes_out, ==, 100 * e->n);
  g_assert_cmpfloat (f->qps, ==, e->n * 1e9 / f->elapsed);
  g_assert_cmpuint (f->ave_time, ==, stage->sleep);
  g_assert_cmpuint (f->ave_put_time, ==, e->put * MS);
  g_assert_cmpuint (f->ave_get_time, ==, e->get * MS);
  g_assert_cmpfloat (f->occupancy_rate, ==, e->occupancy);
  g_assert_cmpfloat (f->push_rate, ==, e->push);
  /* All times are equal, so percentiles are exact as well. */
  g_assert_cmpuint (f->p99_time, ==, stage->sleep);
  g_assert_cmpuint (f->p99_put_time, ==, e->put * MS);
  g_assert_cmpuint (f->p99_get_time, ==, e->get * MS);
}

/* Compares two intervals of @interval ms with the expected statistics. */
static void
check (guint batch, guint n_stages, const guint (*stages)[3], guint interval,
    const Expected *expected)
{
  /* The interval begins between two events. */
  const guint begin = 4201;
  Sim *sim = sim_new (G_MAXINT, batch, n_stages, stages);

  sim_run_until (sim, begin);
  for (guint i = 0; i < n_stages; i++)
    end_interval (sim, i);
  for (guint k = 1; k <= 2; k++) {
    sim_run_until (sim, begin + k * interval);
    for (guint i = 0; i < n_stages; i++) {
      const SpdlMeterStats f = end_interval (sim, i);

      g_assert_cmpuint (f.elapsed, ==, interval * MS);
      assert_figures (&f, &sim->stages[i], &expected[i]);
    }
  }
  sim_free (sim);
}

#define CHECK(batch, stages, interval, expected)                        \
  G_STMT_START                                                          \
  {                                                                     \
    G_STATIC_ASSERT (G_N_ELEMENTS (stages) == G_N_ELEMENTS (expected)); \
    check (batch, G_N_ELEMENTS (stages), stages, interval, expected);   \
  }                                                                     \
  G_STMT_END

static void
test_keeps_up (void)
{
  static const guint stages[][3] = { { 25, 1 }, { 30, 1 } };
  static const Expected expected[] = {
    { 100, 30, 5, 1, 1 },
    { 100, 30, 0, 1, 0 },
  };

  CHECK (1, stages, 3000, expected);
}

static void
test_too_slow (void)
{
  static const guint stages[][3] = { { 35, 1 }, { 30, 1 } };
  static const Expected expected[] = {
    { 100, 35, 0, 1, 0 },
    { 100, 0, 5, 0, 0 },
  };

  CHECK (1, stages, 3500, expected);
}

/* The queues of the slow stage and of all stages before it are always full; the
 * trainer waits 10 ms. */
static void
test_slow_last (void)
{
  static const guint stages[][3] = { { 10, 1 }, { 25, 1 }, { 40, 1 },
    { 30, 1 } };
  static const Expected expected[] = {
    { 100, 40, 30, 1, 1 },
    { 100, 40, 15, 1, 1 },
    { 100, 40, 0, 1, 0 },
    { 100, 0, 10, 0, 0 },
  };

  CHECK (1, stages, 4000, expected);
}

/* All stages after the first starve. */
static void
test_slow_first (void)
{
  static const guint stages[][3] = { { 40, 1 }, { 25, 1 }, { 10, 1 },
    { 30, 1 } };
  static const Expected expected[] = {
    { 100, 40, 0, 1, 0 },
    { 100, 0, 15, 0, 0 },
    { 100, 0, 30, 0, 0 },
    { 100, 0, 10, 0, 0 },
  };

  CHECK (1, stages, 4000, expected);
}

/* With a concurrency of two, every queue is full, and the trainer never
 * waits. */
static void
test_concurrency (void)
{
  static const guint stages[][3] = { { 10, 1 }, { 25, 1 }, { 40, 2 },
    { 30, 1 } };
  static const Expected expected[] = {
    { 100, 30, 20, 1, 1 },
    { 100, 30, 5, 1, 1 },
    { 100, 30, 20, 1, 1 },
    { 100, 30, 0, 1, 0 },
  };

  CHECK (1, stages, 3000, expected);
}

/* Asynchronous tasks give the same statistics. */
static void
test_requests (void)
{
  static const guint stages[][3] = { { 10, 1 }, { 40, 2, TRUE }, { 30, 1 } };
  static const Expected expected[] = {
    { 100, 30, 20, 1, 1 },
    { 100, 30, 20, 1, 1 },
    { 100, 30, 0, 1, 0 },
  };
  static const guint starved[][3] = { { 40, 1 }, { 10, 1, TRUE }, { 30, 1 } };
  static const Expected expected_starved[] = {
    { 100, 40, 0, 1, 0 },
    { 100, 0, 30, 0, 0 },
    { 100, 0, 10, 0, 0 },
  };

  CHECK (1, stages, 3000, expected);
  CHECK (1, starved, 4000, expected_starved);
}

/* The trainer waits 6 ms for a batch of six. */
static void
test_batches_of_six (void)
{
  static const guint stages[][3] = { { 6, 1 }, { 30, 1 } };
  static const Expected expected[] = {
    { 600, 6, 0, 1, 0 },
    { 100, 0, 6, 0, 0 },
  };

  CHECK (6, stages, 3600, expected);
}

/* Batches of four are ready before the trainer. Stages before them run in
 * bursts, so only sums are compared. */
static void
test_batches_of_four (void)
{
  static const guint stages[][3] = { { 6, 1 }, { 30, 1 } };
  Sim *sim = sim_new (G_MAXINT, 4, 2, stages);
  SpdlMeterStats op, trainer;

  sim_run_until (sim, 4201);
  end_interval (sim, 0);
  end_interval (sim, 1);
  sim_run_until (sim, 7201);
  op = end_interval (sim, 0);
  trainer = end_interval (sim, 1);
  g_assert_cmpuint (trainer.num_tasks, ==, 100);
  g_assert_cmpuint (trainer.ave_get_time, ==, 0);
  /* Two items of the next batch are done by then; two more take 12 ms. */
  g_assert_cmpuint (trainer.ave_put_time, ==, 18 * MS);
  g_assert_cmpfloat (trainer.occupancy_rate, ==, 1);
  g_assert_cmpuint (op.num_tasks, ==, 400);
  g_assert_cmpuint (op.ave_time, ==, 6 * MS);
  /* Work takes 24 of 30 ms. */
  g_assert_cmpuint (op.num_items * op.ave_get_time, ==, 100 * 6 * MS);
  sim_free (sim);
}

/* An idle interval has zeros, EOS does not count as an item, and all items are
 * counted once. */
static void
test_end (void)
{
  static const guint stages[][3] = { { 7, 3 }, { 11, 2 }, { 5, 1 } };
  Sim *sim = sim_new (500, 1, 3, stages);

  guint64 items[3] = { 0 };

  for (guint ms = 1; ms < 4000; ms += 321) {
    sim_run_until (sim, ms);
    for (guint i = 0; i < 3; i++)
      items[i] += end_interval (sim, i).num_items;
  }
  for (guint i = 0; i < 3; i++) {
    SpdlMeterStats all;
    const SpdlMeterStats before = end_interval (sim, i);

    g_assert_cmpuint (items[i] + before.num_items, ==, 500);
    spdl_executor_take_figures (&sim->stages[i].executor, FALSE, &all);
    g_assert_cmpuint (all.num_items, ==, 500);
    g_assert_cmpuint (all.num_tasks, ==, 500);
    g_assert_cmpuint (all.ave_time, ==, sim->stages[i].sleep);
  }
  sim_run_until (sim, 5000);
  for (guint i = 0; i < 3; i++) {
    const SpdlMeterStats idle = end_interval (sim, i);

    g_assert_cmpuint (idle.elapsed, >, 900 * MS);
    g_assert_cmpuint (idle.num_items, ==, 0);
    g_assert_cmpuint (idle.num_tasks, ==, 0);
    g_assert_cmpfloat (idle.qps, ==, 0);
    g_assert_cmpfloat (idle.occupancy_rate, ==, 0);
    g_assert_cmpfloat (idle.push_rate, ==, 0);
    g_assert_cmpuint (idle.ave_time, ==, 0);
    g_assert_cmpuint (idle.ave_get_time, ==, 0);
  }
  sim_free (sim);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schedule/25", test_keeps_up);
  g_test_add_func ("/schedule/35", test_too_slow);
  g_test_add_func ("/schedule/10-25-40", test_slow_last);
  g_test_add_func ("/schedule/40-25-10", test_slow_first);
  g_test_add_func ("/schedule/10-25-40x2", test_concurrency);
  g_test_add_func ("/schedule/requests", test_requests);
  g_test_add_func ("/schedule/6-by-6", test_batches_of_six);
  g_test_add_func ("/schedule/6-by-4", test_batches_of_four);
  g_test_add_func ("/schedule/end", test_end);
  return g_test_run ();
}
