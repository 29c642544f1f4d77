/* gst-spdl: tests of all interleavings of the engine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <time.h>

#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/executor.h"
#include "gst/spdl/engine/guest.h"
#include "gst/spdl/engine/trace.h"
#include "tests/check/support/slow.h"

#define MAX_ITEMS 6
/* Time between two looks at the clock, in ns: tasks are shorter than waking a
 * thread, or longer. */
#define SHORT 50
#define LONG 2000000

typedef struct {
  guint n_items;
  guint concurrency;
  guint queue_size;
  SpdlOrder order;
  guint n_parts; /* of each item; 0: it is whole */
  gboolean async;
  gboolean is_short; /* earlier tasks were shorter than waking a thread */
} Setup;

typedef struct {
  SpdlTask task;
  guint number;
  SpdlTask parts[3];
  SpdlTask *list[3];
} Item;

typedef struct {
  const Setup *setup;
  SpdlExecutor executor;
  Item items[2 * MAX_ITEMS];
  guint n_put, n_taken, n_discarded;
  guint taken[2 * MAX_ITEMS];
  guint n_running, n_run;

  /* Tasks that continue without their thread. */
  SpdlMutex lock;
  SpdlCond given;
  SpdlTask *handed_over[MAX_ITEMS];
  guint n_handed_over, n_finished;
  gboolean no_more;
} World;

/* The work of a task. */
static gboolean
run (gpointer user_data, SpdlTask *task, gpointer *slot)
{
  World *w = user_data;

  model_assert (!*slot || *slot == w);
  *slot = w;
  w->n_run++;
  model_assert (++w->n_running <= w->setup->concurrency);
  model_yield ();
  w->n_running--;
  if (!w->setup->async)
    return TRUE;
  spdl_mutex_lock (&w->lock);
  w->handed_over[w->n_handed_over++] = task;
  spdl_cond_signal (&w->given);
  spdl_mutex_unlock (&w->lock);
  return FALSE;
}

static void
close_slot (gpointer user_data, gpointer slot)
{
  model_assert (slot == user_data);
}

static void
discard (gpointer user_data, SpdlEntry *entry)
{
  ((World *) user_data)->n_discarded++;
}

static const SpdlExecutorFuncs funcs = { run, close_slot, discard, NULL };

static guint64
get_time (gpointer user_data)
{
  return model_get_time ();
}

static const SpdlClock model_clock = { get_time, NULL };

static void
world_init (World *w, const Setup *setup, SpdlPool *pool)
{
  memset (w, 0, sizeof *w);
  w->setup = setup;
  spdl_mutex_init (&w->lock);
  spdl_cond_init (&w->given);
  spdl_executor_init (&w->executor, &funcs, w);
  spdl_executor_set_concurrency (&w->executor, setup->concurrency);
  spdl_executor_set_limits (&w->executor, setup->queue_size, 0);
  spdl_executor_start (
      &w->executor, pool ? pool : spdl_pool_new (), setup->order, &model_clock);
  if (!setup->is_short)
    return;
  w->executor.recent_time = w->executor.usual_time = 0;
  w->executor.pool->short_tasks = TRUE;
}

static void
world_clear (World *w)
{
  spdl_executor_stop (&w->executor);
  model_assert (w->n_running == 0);
  model_assert (w->n_taken + w->n_discarded == w->n_put);
  spdl_executor_clear (&w->executor);
  /* A thread of a shared pool must not use it any more. */
  memset (&w->executor, 0xee, sizeof w->executor);
  spdl_cond_clear (&w->given);
  spdl_mutex_clear (&w->lock);
}

/* Puts the item @number. Returns FALSE if the executor refuses it. */
static gboolean
put (World *w, guint number)
{
  Item *item = &w->items[number];

  memset (item, 0, sizeof *item);
  item->number = number;
  item->task.n_items = 1;
  for (guint i = 0; i < w->setup->n_parts; i++)
    item->list[i] = &item->parts[i];
  item->task.parts = w->setup->n_parts > 0 ? item->list : NULL;
  item->task.n_parts = w->setup->n_parts;
  if (spdl_executor_put (&w->executor, &item->task.entry) != SPDL_EXECUTOR_OK)
    return FALSE;
  w->n_put++;
  return TRUE;
}

static void *
put_all (void *data)
{
  World *w = data;

  for (guint i = 0; i < w->setup->n_items && put (w, i); i++)
    ;
  return NULL;
}

/* Takes up to @n entries. Returns why there was none. */
static SpdlExecutorStatus
take (World *w, guint n)
{
  SpdlExecutorStatus status = SPDL_EXECUTOR_OK;
  SpdlEntry *passed = NULL;

  while (n-- > 0 &&
         (passed = spdl_executor_take (&w->executor, passed, &status))) {
    const guint number = ((Item *) passed)->number;

    model_assert (passed->state == SPDL_ENTRY_DONE);
    model_assert (w->n_taken == 0 || w->setup->order == SPDL_ORDER_COMPLETION ||
                  w->taken[w->n_taken - 1] < number);
    w->taken[w->n_taken++] = number;
  }
  return status;
}

static void *
take_all (void *data)
{
  World *w = data;

  model_assert (take (w, w->setup->n_items) == SPDL_EXECUTOR_OK);
  return NULL;
}

static void *
take_until_end (void *data)
{
  model_assert (take (data, G_MAXUINT) != SPDL_EXECUTOR_OK);
  return NULL;
}

/* All items arrive, once and in their order. */
static void
run_through (gconstpointer data)
{
  World w;
  guint taker;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_all, &w);
  put_all (&w);
  model_thread_join (taker);
  model_assert (w.n_put == w.setup->n_items && w.n_taken == w.n_put);
  model_assert (w.n_run == w.n_put * MAX (w.setup->n_parts, 1));
  world_clear (&w);
}

/* If no second thread can be created, the first one does its work. Without any,
 * a pool does not begin. */
static void
run_one_thread (gconstpointer data)
{
  SpdlPool *pool = spdl_pool_new ();
  GError *error = NULL;

  model_limit_threads (0);
  model_assert (!spdl_pool_begin (pool, &error));
  model_assert (g_error_matches (error, G_THREAD_ERROR, G_THREAD_ERROR_AGAIN));
  g_clear_error (&error);
  spdl_pool_unref (pool);
  model_limit_threads (1);
  run_through (data);
  model_limit_threads (G_MAXUINT);
}

/* At most the tasks that had begun have run since @n ran. */
static void
assert_none_began (const World *w, guint n)
{
  model_assert (w->n_run <= n + w->setup->concurrency);
}

/* After a flush, no earlier result arrives, and no earlier task runs. */
static void
run_flush (gconstpointer data)
{
  World w;
  guint taker, putter, n;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_until_end, &w);
  putter = model_thread_start (put_all, &w);
  spdl_executor_flush_start (&w.executor);
  n = w.n_run;
  model_thread_join (putter);
  model_thread_join (taker);
  spdl_executor_flush_stop (&w.executor);
  assert_none_began (&w, n);
  model_assert (w.n_running == 0);
  model_assert (w.n_taken + w.n_discarded == w.n_put);
  n = w.n_taken;
  model_assert (put (&w, MAX_ITEMS));
  model_assert (take (&w, 1) == SPDL_EXECUTOR_OK);
  model_assert (w.n_taken == n + 1 && w.taken[n] == MAX_ITEMS);
  world_clear (&w);
}

/* A stop waits for running tasks. */
static void
run_stop (gconstpointer data)
{
  World w;
  guint taker;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_until_end, &w);
  put_all (&w);
  spdl_executor_flush_start (&w.executor);
  model_thread_join (taker);
  world_clear (&w);
}

/* After a close, what has begun still arrives, and the taker gets the end. */
static void
run_close (gconstpointer data)
{
  World w;
  guint taker, putter, n;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_until_end, &w);
  putter = model_thread_start (put_all, &w);
  spdl_executor_close (&w.executor);
  n = w.n_run;
  model_thread_join (putter);
  model_thread_join (taker);
  assert_none_began (&w, n);
  model_assert (w.n_taken + w.n_discarded == w.n_put);
  world_clear (&w);
}

/* The concurrency may change at any time, which ends threads. */
static void
run_limits (gconstpointer data)
{
  World w;
  guint taker;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_all, &w);
  put (&w, 0);
  put (&w, 1);
  spdl_executor_set_concurrency (&w.executor, 1);
  spdl_executor_set_limits (&w.executor, w.setup->queue_size, 0);
  for (guint i = 2; i < w.setup->n_items; i++)
    put (&w, i);
  model_thread_join (taker);
  world_clear (&w);
}

/* Tasks may be held at any time. */
static void
run_allow (gconstpointer data)
{
  World w;
  guint taker;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_all, &w);
  spdl_executor_allow (&w.executor, 0);
  put (&w, 0);
  spdl_executor_allow (&w.executor, G_MAXUINT);
  for (guint i = 1; i < w.setup->n_items; i++)
    put (&w, i);
  model_thread_join (taker);
  model_assert (w.n_taken == w.setup->n_items);
  world_clear (&w);
}

/* Returns NULL if no more tasks will be handed over. */
static SpdlTask *
await_task (World *w)
{
  SpdlTask *task = NULL;

  spdl_mutex_lock (&w->lock);
  while (w->n_finished == w->n_handed_over && !w->no_more)
    spdl_cond_wait (&w->given, &w->lock);
  if (w->n_finished < w->n_handed_over)
    task = w->handed_over[w->n_finished++];
  spdl_mutex_unlock (&w->lock);
  return task;
}

static void *
finish_all (void *data)
{
  World *w = data;
  SpdlTask *task;

  while ((task = await_task (w)))
    spdl_executor_finish (&w->executor, task);
  return NULL;
}

static void
end_finisher (World *w, guint finisher)
{
  spdl_mutex_lock (&w->lock);
  w->no_more = TRUE;
  spdl_cond_signal (&w->given);
  spdl_mutex_unlock (&w->lock);
  model_thread_join (finisher);
}

/* Tasks that continue without their thread end in another one. */
static void
run_async (gconstpointer data)
{
  World w;
  guint taker, finisher;

  world_init (&w, data, NULL);
  taker = model_thread_start (take_all, &w);
  finisher = model_thread_start (finish_all, &w);
  put_all (&w);
  model_thread_join (taker);
  end_finisher (&w, finisher);
  world_clear (&w);
}

static void *
put_and_take (void *data)
{
  put_all (data);
  take_all (data);
  return NULL;
}

/* The end of a stage waits for such tasks, and for the thread that began one,
 * which the pool may keep. */
static void
run_async_stop (gconstpointer data)
{
  SpdlPool *pool = spdl_pool_get_shared ("pool", 1, NULL);
  World w;
  guint finisher;

  world_init (&w, data, spdl_pool_get_shared ("pool", 1, NULL));
  finisher = model_thread_start (finish_all, &w);
  put_all (&w);
  spdl_executor_stop (&w.executor);
  end_finisher (&w, finisher);
  world_clear (&w);
  spdl_pool_unref (pool);
}

/* Two stages share the threads of a pool, and one of them ends first. */
static void
run_shared (gconstpointer data)
{
  const Setup *setup = data;
  World a, b;
  guint other;

  world_init (
      &a, data, spdl_pool_get_shared ("pool", setup->concurrency, NULL));
  world_init (
      &b, data, spdl_pool_get_shared ("pool", setup->concurrency, NULL));
  other = model_thread_start (put_and_take, &b);
  put_and_take (&a);
  world_clear (&a);
  model_thread_join (other);
  world_clear (&b);
}

/* A guest of the pool of a stage, which may end before. */
typedef struct {
  World world;
  SpdlGuest guest;
  struct {
    SpdlGuestWork work;
    guint n_run;
  } pieces[3];
} Visit;

static void
run_piece (SpdlGuestWork *work)
{
  model_yield ();
  ++*(guint *) (work + 1);
}

static void
visit_init (Visit *v, const Setup *setup)
{
  memset (v, 0, sizeof *v);
  world_init (&v->world, setup, NULL);
  spdl_guest_init (&v->guest);
  spdl_guest_join (&v->guest, spdl_executor_ref_pool (&v->world.executor));
  for (guint i = 0; i < G_N_ELEMENTS (v->pieces); i++)
    v->pieces[i].work.run = run_piece;
}

static void
give_pieces (Visit *v, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    spdl_guest_give (&v->guest, &v->pieces[i].work);
  spdl_guest_wait (&v->guest);
  for (guint i = from; i < to; i++)
    model_assert (v->pieces[i].n_run == 1);
}

static void *
give_two (void *data)
{
  give_pieces (data, 0, 2);
  return NULL;
}

/* The stage and its guest make progress. The guest does its work alone after
 * the stage has ended. */
static void
run_guest (gconstpointer data)
{
  Visit v;
  guint taker;

  visit_init (&v, data);
  taker = model_thread_start (take_all, &v.world);
  put_all (&v.world);
  give_two (&v);
  model_thread_join (taker);
  world_clear (&v.world);
  give_pieces (&v, 2, 3);
  spdl_guest_clear (&v.guest);
}

/* The stage ends while it has work of the guest. */
static void
run_guest_stop (gconstpointer data)
{
  Visit v;
  guint giver;

  visit_init (&v, data);
  giver = model_thread_start (give_two, &v);
  put_all (&v.world);
  world_clear (&v.world);
  model_thread_join (giver);
  spdl_guest_clear (&v.guest);
}

static void *
trace_some (void *data)
{
  spdl_threads_set_background (FALSE);
  for (guint i = 0; i < 3; i++)
    spdl_trace_add ("x", SPDL_TRACE_TASK, i, i + 1, i, 1);
  return NULL;
}

/* Threads add events while a trace starts and stops. */
static void
run_trace (gconstpointer data)
{
  const guint a = model_thread_start (trace_some, NULL);
  const guint b = model_thread_start (trace_some, NULL);

  model_assert (spdl_trace_start ("/dev/null", NULL));
  model_assert (!spdl_threads_are_background ());
  model_assert (spdl_trace_stop (NULL, NULL));
  model_thread_join (a);
  model_thread_join (b);
}

static const Setup one = { 6, 1, 1, SPDL_ORDER_INPUT };
static const Setup one_any = { 6, 1, 2, SPDL_ORDER_COMPLETION };
static const Setup two = { 4, 2, 1, SPDL_ORDER_INPUT };
static const Setup two_any = { 3, 2, 0, SPDL_ORDER_COMPLETION };
static const Setup two_short = { 4, 2, 1, SPDL_ORDER_INPUT, .is_short = TRUE };
static const Setup parts = { 2, 2, 1, SPDL_ORDER_INPUT, 2 };
static const Setup async = { 3, 1, 1, SPDL_ORDER_INPUT, .async = TRUE };
static const Setup few_async = { 2, 1, 2, SPDL_ORDER_INPUT, .async = TRUE };
static const Setup few = { 3, 1, 0, SPDL_ORDER_INPUT };
static const Setup few_parts = { 2, 1, 1, SPDL_ORDER_INPUT, 3 };
static const Setup fit = { 3, 2, 1, SPDL_ORDER_COMPLETION };
static const Setup fit_short = { 3, 2, 1, SPDL_ORDER_COMPLETION,
  .is_short = TRUE };
static const Setup shared = { 2, 1, 1, SPDL_ORDER_INPUT };

static const Setup visited = { 2, 2, 1, SPDL_ORDER_INPUT };
static const Setup visited_short = { 2, 1, 4, SPDL_ORDER_INPUT,
  .is_short = TRUE };

static const ModelScenario scenarios[] = {
  { "one worker", run_through, &one, LONG, TRUE },
  { "one worker, completion order", run_through, &one_any, LONG, TRUE },
  { "two workers", run_through, &two, LONG, TRUE },
  { "two workers, short tasks", run_through, &two_short, SHORT },
  { "two workers, completion order", run_through, &two_any, LONG, TRUE },
  { "one thread for two workers", run_one_thread, &two, LONG, TRUE },
  { "parts", run_through, &parts, LONG, TRUE },
  { "flush", run_flush, &few, LONG },
  { "flush, parts", run_flush, &few_parts, LONG },
  { "stop", run_stop, &few, LONG },
  { "close", run_close, &few, LONG },
  { "close, parts", run_close, &few_parts, LONG },
  { "limits", run_limits, &fit, LONG },
  { "limits, short tasks", run_limits, &fit_short, SHORT },
  { "held tasks", run_allow, &few, LONG },
  { "tasks without a thread", run_async, &async, LONG },
  { "stop of tasks without a thread", run_async_stop, &few_async, LONG },
  { "shared pool", run_shared, &shared, LONG },
  { "guest", run_guest, &visited, LONG },
  { "guest, short tasks", run_guest, &visited_short, SHORT },
  { "guest of a stage that stops", run_guest_stop, &visited, LONG },
  { "trace", run_trace, NULL, LONG },
};

static double
get_seconds (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* An argument is the name of the only scenario to run. */
int
main (int argc, char **argv)
{
  const guint preemptions = spdl_test_slow_or (3, 2);
  guint64 all = 0;

  g_print ("1..%u\n", (guint) G_N_ELEMENTS (scenarios));
  for (guint i = 0; i < G_N_ELEMENTS (scenarios); i++) {
    const double since = get_seconds ();

    if (argc > 1 && !g_str_equal (argv[1], scenarios[i].name))
      continue;
    const guint64 n = model_explore (&scenarios[i], preemptions);

    all += n;
    g_print ("ok %u - %s\n# %" G_GUINT64_FORMAT " interleavings, %.1f s\n",
        i + 1, scenarios[i].name, n, get_seconds () - since);
  }
  g_print ("# %" G_GUINT64_FORMAT " interleavings with %u preemptions\n", all,
      preemptions);
  return 0;
}
