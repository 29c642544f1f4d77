/* gst-spdl: bottleneck of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdldiagnose
 * @title: Diagnosis
 * @short_description: finds the bottleneck of a pipeline
 *
 * gst_spdl_diagnose() reads the statistics of all elements of a pipeline. It
 * names the element that limits the throughput, gives the reason, and suggests
 * a change. The result depends only on the arguments.
 *
 * A pipeline is as fast as its slowest part. That part never waits: the
 * elements before it are blocked, and the elements after it starve. So the
 * stage whose workers are always busy is the bottleneck. If the workers of all
 * stages are idle at times, the bottleneck is the element after the last full
 * queue, or the source if no queue is full.
 *
 * If a trainer does not wait for batches and its steps take longer than they
 * should, something slows it down, and faster loading would not help.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdldiagnose.h"

#include "gst/spdl/diagnose/diagnosis-private.h"
#include <math.h>

#define MAX_CONCURRENCY 4096
#define MAX_NAMES 3
/* Minimum share of the busy cores that a stage uses to be named in the
 * diagnosis. */
#define MOST 0.5

static int
to_percent (double share)
{
  return (int) lround (share * 100);
}

static double
to_seconds (guint64 ns)
{
  return ns / 1e9;
}

/* Too few statistics, or no progress */

static GstSpdlDiagnosis *
conclude_idle (const GstSpdlAnalysis *c)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, NULL,
      g_strdup_printf ("no item moved in %.1f s", to_seconds (c->elapsed)),
      "the pipeline is idle");
}

/* Tasks of @view do not end. */
static GstSpdlDiagnosis *
conclude_stalled (const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, view->name,
      g_strdup_printf (
          "no task of %s ended in %.1f s, although items are waiting before it",
          view->name, to_seconds (c->elapsed)),
      "check what its tasks wait for");
}

/* The worker process of @view does not answer. */
static GstSpdlDiagnosis *
conclude_silent (const GstSpdlStageView *view)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, view->name,
      g_strdup_printf ("the worker process of %s has not answered for %.0f s",
          view->name, to_seconds (view->silent)),
      "find out what stopped it, such as a signal or storage that hangs");
}

/* @what: kind of the counted objects: "items"
 * @n: their number */
static GstSpdlDiagnosis *
conclude_too_few (const GstSpdlAnalysis *c, const gchar *what, guint64 n)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_TOO_FEW, NULL,
      g_strdup_printf ("%" G_GUINT64_FORMAT
                       " %s in %.1f s are too few to find a bottleneck",
          n, what, to_seconds (c->elapsed)),
      "let it run longer");
}

/* Nearly all tasks of @view failed. */
static GstSpdlDiagnosis *
conclude_failures (const GstSpdlStageView *view)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_FAILURES, view->name,
      g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " items of %s failed",
          view->failures, view->items, view->name),
      "read the reasons of the failed items; speed does not matter before "
      "that");
}

/* A server limits the requests of @view. */
static GstSpdlDiagnosis *
conclude_rate_limit (const GstSpdlStageView *view)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_WAITING, view->name,
      g_strdup_printf ("%s pauses %d %% of the time, as a server limits the "
                       "rate of requests: %s",
          view->name, to_percent (view->rate_paused / (double) view->elapsed),
          view->rate_limit ? view->rate_limit : "unknown limit"),
      "more concurrency does not help; read larger objects such as shards, "
      "keep items in cache-dir, or ask for a higher limit");
}

/* A stage is the bottleneck */

/* Returns the concurrency to suggest: twice the current one, but no more than
 * there are free cores for, or than the next stage can keep up with. */
static guint
more_concurrency (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view, double gain)
{
  guint value = view->concurrency * 2;

  if (gain > 1)
    value = MIN (value, (guint) ceil (view->concurrency * gain));
  if (c->num_cores > 0 && view->computing >= GST_SPDL_COMPUTES) {
    double free_cores = c->num_cores - c->busy_cores;

    if (c->num_cpus > 0)
      free_cores = MIN (free_cores, c->idle_cores);
    const double more = floor (free_cores / view->computing + 0.5);

    value = MIN (value, view->concurrency + (guint) MAX (more, 1));
  }
  return MIN (MAX (value, view->concurrency + 1), MAX_CONCURRENCY);
}

static gchar *
how_much (double busy)
{
  return busy >= 0.95
             ? g_strdup ("all the time")
             : g_strdup_printf ("%d %% of the time", to_percent (busy));
}

/* Describes a stage. Workers that are not busy although the queue is full wait
 * for a core that others use, or are blocked by their results. */
static gchar *
describe_stage (const GstSpdlStageView *view)
{
  g_autofree gchar *much = how_much (view->busy);
  const int full = to_percent (view->fullness);
  const gboolean computes = view->computing >= GST_SPDL_COMPUTES;

  if (view->busy < GST_SPDL_BUSY)
    return g_strdup_printf ("%s %s %s, spends the rest waiting for a core or "
                            "for room, and its queue is %d %% full",
        view->name, computes ? "computes" : "is busy", much, full);
  if (computes)
    return g_strdup_printf (
        "%s computes %s and its queue is %d %% full", view->name, much, full);
  return g_strdup_printf ("%s is busy %s, of which it computes %d %% and waits "
                          "the rest, and its queue is %d %% full",
      view->name, much, to_percent (view->computing), full);
}

/* The workers of @view compute or wait all the time. */
static GstSpdlDiagnosis *
conclude_stage (const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  const GstSpdlLimit limit = view->computing >= GST_SPDL_COMPUTES
                                 ? GST_SPDL_LIMIT_COMPUTING
                                 : GST_SPDL_LIMIT_WAITING;
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (limit, view->name, describe_stage (view),
          view->automatic ? "%s.concurrency is automatic (currently %u)"
                          : "raise %s.concurrency, now %u",
          view->name, view->concurrency);

  if (view == c->top && c->second && c->second->busy > 0)
    d->gain = view->busy / c->second->busy;
  if (!view->automatic)
    gst_spdl_diagnosis_suggest (d, "concurrency",
        g_strdup_printf ("%u", more_concurrency (c, view, d->gain)));
  return d;
}

/* The stages may not be the main user of the cores; the trainer may be. */
static GstSpdlDiagnosis *
conclude_cores (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *view = gst_spdl_analysis_find_most_computing (c);
  const double of_it = view ? view->cpu_time / (double) c->elapsed : 0;
  const gchar *name = of_it >= MOST * c->busy_cores ? view->name : NULL;
  GString *reason = g_string_new (NULL);

  g_string_append_printf (
      reason, "%.1f of %.4g cores are busy", c->busy_cores, c->num_cores);
  if (of_it > 0)
    g_string_append_printf (reason, ", %.1f of them by %s", of_it, view->name);
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CORES, name,
      g_string_free (reason, FALSE),
      "more concurrency does not help; reduce the work%s%s or add cores",
      name ? " in " : "", name ? name : "");
}

/* The workers of @view lack cores, because other programs use them. Names no
 * element, because none is the bottleneck. */
static GstSpdlDiagnosis *
conclude_others (const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  GString *reason = g_string_new (NULL);

  if (c->num_cpus > 0)
    g_string_append_printf (reason, "other programs use %.1f of %u cores",
        c->other_cores, c->num_cpus);
  else
    g_string_append (reason, "other programs use the cores");
  if (c->pressure >= 0)
    g_string_append_printf (
        reason, " (CPU pressure %d %%)", to_percent (c->pressure));
  g_string_append_printf (reason,
      ", so %s gets too little CPU time (the "
      "process uses %.1f of %.4g cores)",
      view->name, c->busy_cores, c->num_cores);
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_OTHERS, NULL,
      g_string_free (reason, FALSE),
      "stop the other programs or move them to other cores; more concurrency "
      "does not help");
}

static GstSpdlDiagnosis *
conclude_balanced (const GstSpdlAnalysis *c)
{
  gchar *reason;

  if (c->second && c->second->busy >= GST_SPDL_BUSY)
    return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_BALANCED, NULL,
        g_strdup_printf ("%s is busy %d %% of the time and %s %d %%",
            c->top->name, to_percent (c->top->busy), c->second->name,
            to_percent (c->second->busy)),
        "balanced, raising one alone gains little");
  reason = c->top ? g_strdup_printf (
                        "no stage stands out, and the busiest, %s, is busy %d "
                        "%% of the time",
                        c->top->name, to_percent (c->top->busy))
                  : g_strdup ("no element stands out");
  return gst_spdl_diagnosis_new (
      GST_SPDL_LIMIT_BALANCED, NULL, reason, "balanced, nothing to raise");
}

static GstSpdlDiagnosis *
conclude_straggler (const GstSpdlStageView *view)
{
  g_autofree gchar *ave = gst_spdl_diagnosis_format_time (view->ave_time);
  g_autofree gchar *p99 = gst_spdl_diagnosis_format_time (view->p99_time);
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_STRAGGLER,
      view->name,
      g_strdup_printf (
          "%s holds results back for slow items, because it keeps their order "
          "(a task takes %s on average, the 99th percentile is %s), and its "
          "workers are idle %d %% of the time",
          view->name, ave, p99, to_percent (1 - view->busy)),
      "set %s.output-order=completion or raise %s.queue-size, now %u",
      view->name, view->name, view->queue_size);

  gst_spdl_diagnosis_suggest (d, "output-order", g_strdup ("completion"));
  return d;
}

static GstSpdlDiagnosis *
conclude_held (const GstSpdlStageView *view)
{
  if (view->throttled)
    return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_HELD, view->name,
        g_strdup_printf ("the CPU budget limits %s", view->name),
        "this is its purpose; reduce the work, or raise the budget");
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_HELD, view->name,
      g_strdup_printf ("items wait before %s although its workers are idle %d "
                       "%% of the time",
          view->name, to_percent (1 - view->busy)),
      "check its thread-pool and max-bytes, and whether other processes use "
      "the cores");
}

/* No stage is the bottleneck */

/* Describes the trainer, with the duration of its steps if it is known. */
static gchar *
describe_consumer (const GstSpdlStageView *sink)
{
  g_autofree gchar *step = gst_spdl_diagnosis_format_time (sink->p50_step);
  g_autofree gchar *p99 = gst_spdl_diagnosis_format_time (sink->p99_step);
  GString *reason = g_string_new (NULL);

  g_string_append_printf (reason,
      "the trainer is the bottleneck, since batches wait for it in %s %d %% of "
      "the time",
      sink->name, to_percent (sink->fullness));
  if (sink->p50_step > 0)
    g_string_append_printf (reason, " and its step takes %s", step);
  if (sink->p99_step > 2 * sink->p50_step)
    g_string_append_printf (reason, " (the 99th percentile is %s)", p99);
  return g_string_free (reason, FALSE);
}

static GstSpdlDiagnosis *
conclude_consumer (const GstSpdlStageView *sink)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CONSUMER, sink->name,
      describe_consumer (sink), "the pipeline keeps up, nothing to do");
}

/* Suggests how to reduce contention, as far as the statistics allow. */
static gchar *
advise_on_contention (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *view = gst_spdl_analysis_find_most_computing (c);

  if (c->num_cpus > 0 && gst_spdl_analysis_others_hold_cores (c, view))
    return g_strdup_printf ("stop the other programs, which use %.1f of %u "
                            "cores, or move them to other cores",
        c->other_cores, c->num_cpus);
  if (!gst_spdl_analysis_cores_are_busy (c))
    return g_strdup ("check causes that these figures do not show: memory, "
                     "other processes, a lock such as Python's");
  if (view && view->concurrency > 1)
    return g_strdup_printf (
        "lower %s.concurrency, now %u, or reserve cores for the trainer",
        view->name, view->concurrency);
  return g_strdup (
      "reduce the work in the pipeline, or reserve cores for the trainer");
}

/* The trainer's step takes longer than expected. */
static GstSpdlDiagnosis *
conclude_contention (const GstSpdlAnalysis *c, const GstSpdlStageView *sink)
{
  g_autofree gchar *step = gst_spdl_diagnosis_format_time (sink->p50_step);
  g_autofree gchar *given = gst_spdl_diagnosis_format_time (sink->given_step);
  g_autofree gchar *wait = gst_spdl_diagnosis_format_time (sink->get_time);
  g_autofree gchar *advice = advise_on_contention (c);
  GString *reason = g_string_new (NULL);

  g_string_append_printf (reason,
      "the trainer is slowed down rather than starved, since its step takes %s "
      "instead of %s, and its wait for a batch %s",
      step, given, wait);
  if (gst_spdl_analysis_cores_are_busy (c))
    g_string_append_printf (reason, ", while %.1f of %.4g cores are busy",
        c->busy_cores, c->num_cores);
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CONTENTION, sink->name,
      g_string_free (reason, FALSE), "%s", advice);
}

/* Batches came from a cache. */
static GstSpdlDiagnosis *
conclude_cached (const GstSpdlStageView *cache)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CACHED, cache->name,
      g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " batches came from %s",
          cache->cached, MAX (cache->batches, cache->cached), cache->name),
      "this is the rate that the trainer can reach, not the rate of the "
      "pipeline");
}

/* The source is slow, according to the gauge. */
static GstSpdlDiagnosis *
conclude_source (const GstSpdlAnalysis *c, guint gauge)
{
  return gst_spdl_diagnosis_new (GST_SPDL_LIMIT_SOURCE, c->views[0].name,
      g_strdup_printf ("%s is slow, since %s after it starves",
          c->views[0].name, c->views[gauge].name),
      "no concurrency to raise; write the indexes of shards in advance, or "
      "speed up the iterable that feeds the pipeline");
}

/* Elements from one gauge to the next; only those of other projects if there
 * are any. */
typedef struct {
  const GstSpdlStageView *first;
  guint n;
  GString *names;
} Suspects;

static Suspects
find_suspects (const GstSpdlAnalysis *c, guint from, guint to)
{
  const gboolean foreign_only = gst_spdl_analysis_any_foreign (c, from, to);
  Suspects all = { .names = g_string_new (NULL) };

  for (guint i = from; i < to; i++) {
    if (foreign_only && c->views[i].has_figures)
      continue;
    if (all.n == 0)
      all.first = &c->views[i];
    if (++all.n <= MAX_NAMES)
      g_string_append_printf (
          all.names, "%s%s", all.n > 1 ? ", " : "", c->views[i].name);
  }
  if (all.n > MAX_NAMES)
    g_string_append (all.names, " ...");
  return all;
}

static gchar *
describe_suspects (
    const GstSpdlAnalysis *c, const Suspects *all, guint before, guint after)
{
  GString *reason = g_string_new (NULL);

  g_string_append_printf (
      reason, "%s%s is slow", all->n > 1 ? "one of " : "", all->names->str);
  if (before < c->n_views)
    g_string_append_printf (
        reason, ", since %s before it is blocked", c->views[before].name);
  if (after < c->n_views)
    g_string_append_printf (reason, "%s %s after it starves",
        before < c->n_views ? " and" : ", since", c->views[after].name);
  return g_string_free (reason, FALSE);
}

/* Returns advice for an element without a property for threads. The thread
 * after a stage serves only the elements that follow it, but the thread of a
 * source also does the source's work. */
static const gchar *
advise_on_suspects (
    const GstSpdlAnalysis *c, const Suspects *all, guint before, guint after)
{
  if (all->n > 1)
    return "put a queue between them, so that each runs in its own thread";
  if (all->first->has_figures)
    return "reduce its work";
  if (all->first == &c->views[c->n_views - 1])
    return "no stage to raise";
  if (before >= c->n_views)
    return "put a queue before it, so that it runs in its own thread";
  return "reduce its work, or run several instances of it in an spdlpipe";
}

/* An element between the gauges @before and @after (n_views: none) is slow. */
static GstSpdlDiagnosis *
conclude_element (const GstSpdlAnalysis *c, guint before, guint after)
{
  const Suspects all =
      find_suspects (c, before < c->n_views ? before + 1 : 0, after);
  gchar *reason = describe_suspects (c, &all, before, after);
  const GstSpdlStageView *first = all.first;
  GstSpdlDiagnosis *d;

  if (first->threads_property && all.n == 1) {
    d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_ELEMENT, first->name, reason,
        "raise %s.%s, now %u", first->name, first->threads_property,
        first->threads);
    gst_spdl_diagnosis_suggest (d, first->threads_property,
        g_strdup_printf ("%u", MAX (first->threads, 1) * 2));
  } else {
    d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_ELEMENT, first->name, reason,
        "%s", advise_on_suspects (c, &all, before, after));
  }
  g_string_free (all.names, TRUE);
  return d;
}

/* Rules */

/* Workers count as idle below this value of `busy`, and a queue as starved
 * below this value of `fullness`. */
#define RATHER_BUSY 0.3
#define STARVED 0.4
/* If a change gains less than this factor, no stage stands out. */
#define MIN_GAIN 1.1
/* Fewer tasks, or a shorter time, mostly show how the pipeline fills. */
#define MIN_TASKS 10
#define MIN_TASKS_OF_WORKER 3
#define MIN_ELAPSED (100 * GST_MSECOND)
/* A larger share of failed items in a stage is reported as the diagnosis. */
#define MAX_FAILED 0.9
/* Minimum share of the time in which a server refuses requests to be named. */
#define MIN_PAUSED 0.2
/* A stage whose first task takes longer is reported. */
#define MAX_FIRST_TASK GST_SECOND
/* A worker process that does not answer for this time is reported. */
#define MAX_SILENCE (5 * GST_SECOND)

/* Returns a diagnosis if nothing was processed, or if a stage has not finished
 * any task; otherwise NULL. */
static GstSpdlDiagnosis *
diagnose_idle (const GstSpdlAnalysis *c, guint64 moved)
{
  const guint full = gst_spdl_analysis_find_last_full (c);
  const gboolean stalled = full < c->n_views && c->views[full].tasks == 0;

  if (stalled && (moved == 0 || c->elapsed >= MAX_FIRST_TASK))
    return conclude_stalled (c, &c->views[full]);
  return moved == 0 ? conclude_idle (c) : NULL;
}

/* Returns the first stage in which nearly all items failed; nullable. */
static const GstSpdlStageView *
find_failing (const GstSpdlAnalysis *c)
{
  for (guint i = 0; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (view->tasks >= MIN_TASKS && view->failures > MAX_FAILED * view->items)
      return view;
  }
  return NULL;
}

/* Returns the first stage whose requests a server limits; nullable. */
static const GstSpdlStageView *
find_limited (const GstSpdlAnalysis *c)
{
  for (guint i = 0; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (view->elapsed > 0 && view->rate_paused > MIN_PAUSED * view->elapsed)
      return view;
  }
  return NULL;
}

static gboolean
has_enough_tasks (const GstSpdlStageView *view)
{
  const guint64 enough = view->concurrency * MIN_TASKS_OF_WORKER;

  return view->tasks >= MAX (MIN_TASKS, enough);
}

/* Returns a stage with too few tasks to be judged; nullable. One with a free
 * queue and idle workers counts only if all have too few: it may be in a branch
 * with few items. */
static const GstSpdlStageView *
find_unknown (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *idle = NULL;
  gboolean any_known = FALSE;

  for (guint i = 0; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (!view->is_stage)
      continue;
    if (has_enough_tasks (view))
      any_known = TRUE;
    else if (view->fullness >= GST_SPDL_FULL || view->busy >= RATHER_BUSY)
      return view;
    else if (!idle)
      idle = view;
  }
  return any_known ? NULL : idle;
}

/* Returns a diagnosis if there are too few statistics; otherwise NULL. */
static GstSpdlDiagnosis *
diagnose_too_few (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *unknown;
  GstSpdlDiagnosis *d;
  guint64 moved = 0;

  for (guint i = 0; i < c->n_views; i++)
    moved += c->views[i].items + c->views[i].tasks;
  if (c->elapsed >= MIN_ELAPSED && (d = diagnose_idle (c, moved)))
    return d;

  unknown = find_unknown (c);
  if (unknown) {
    g_autofree gchar *what = g_strdup_printf ("tasks of %s", unknown->name);

    return conclude_too_few (c, what, unknown->tasks);
  }
  if (moved < MIN_TASKS || c->elapsed < MIN_ELAPSED)
    return conclude_too_few (
        c, "items", c->n_views > 0 ? c->views[c->n_views - 1].items : 0);
  return NULL;
}

/* Returns TRUE if some tasks take much longer than most. */
static gboolean
has_stragglers (const GstSpdlStageView *view)
{
  return view->p99_time > 4 * view->ave_time ||
         view->ave_time > 1.5 * view->p90_time;
}

/* Diagnoses a bottleneck after the last full queue. */
static GstSpdlDiagnosis *
diagnose_behind (const GstSpdlAnalysis *c, guint full)
{
  const GstSpdlStageView *view = &c->views[full];
  const guint next = gst_spdl_analysis_find_gauge (c, full + 1);
  const gboolean several = view->concurrency + view->queue_size > 1;
  const gboolean slow = gst_spdl_analysis_downstream_is_slow (c, full, next);

  if (view->in_order && several && (has_stragglers (view) || !slow))
    return conclude_straggler (view);
  if (slow)
    return conclude_element (c, full, next);
  if (gst_spdl_analysis_cores_are_busy (c))
    return conclude_cores (c);
  if (!view->throttled && gst_spdl_analysis_others_hold_cores (c, view))
    return conclude_others (c, view);
  if (view->busy >= RATHER_BUSY)
    return conclude_stage (c, view);
  return conclude_held (view);
}

/* Diagnoses a bottleneck before the first queue, which is empty most of the
 * time. */
static GstSpdlDiagnosis *
diagnose_before (const GstSpdlAnalysis *c, guint first)
{
  return gst_spdl_analysis_any_foreign (c, 1, first)
             ? conclude_element (c, c->n_views, first)
             : conclude_source (c, first);
}

/* Returns TRUE if two stages are so busy that each is the bottleneck at times.
 * Neither queue needs to be full in that case. */
static gboolean
is_balanced (const GstSpdlAnalysis *c)
{
  return c->second && c->second->busy >= GST_SPDL_BUSY &&
         c->top->busy < MIN_GAIN * c->second->busy;
}

/* Returns the first element whose process does not answer; nullable. */
static const GstSpdlStageView *
find_silent (const GstSpdlAnalysis *c)
{
  for (guint i = 0; i < c->n_views; i++)
    if (c->views[i].silent >= MAX_SILENCE)
      return &c->views[i];
  return NULL;
}

static GstSpdlDiagnosis *
diagnose_view (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *cache = gst_spdl_analysis_find_cache (c);
  const GstSpdlStageView *failing = find_failing (c);
  const GstSpdlStageView *silent = find_silent (c);
  const GstSpdlStageView *sink = gst_spdl_analysis_get_sink (c);
  const GstSpdlStageView *limited =
      sink && sink->fullness >= GST_SPDL_FULL ? NULL : find_limited (c);
  GstSpdlDiagnosis *d = silent    ? conclude_silent (silent)
                        : cache   ? conclude_cached (cache)
                        : failing ? conclude_failures (failing)
                        : limited ? conclude_rate_limit (limited)
                                  : diagnose_too_few (c);
  const guint first = gst_spdl_analysis_find_gauge (c, 0);
  const guint full = gst_spdl_analysis_find_last_full (c);
  const gboolean busy = c->top && c->top->busy >= GST_SPDL_BUSY;

  if (d)
    return d;
  if (gst_spdl_analysis_step_is_slow (c))
    return conclude_contention (c, sink);
  if (sink && sink->fullness >= GST_SPDL_FULL)
    return conclude_consumer (sink);
  if (full < c->n_views && c->views[full].throttled)
    return conclude_held (&c->views[full]);
  if (busy && (c->top->fullness > STARVED || is_balanced (c))) {
    if (gst_spdl_analysis_cores_are_busy (c))
      return conclude_cores (c);
    if (gst_spdl_analysis_others_hold_cores (c, c->top))
      return conclude_others (c, c->top);
    return is_balanced (c) ? conclude_balanced (c) : conclude_stage (c, c->top);
  }
  if (full < c->n_views)
    return diagnose_behind (c, full);
  if (gst_spdl_analysis_cores_are_busy (c))
    return conclude_cores (c);
  if (first > 0 && first < c->n_views && c->views[first].fullness < STARVED)
    return diagnose_before (c, first);
  if (gst_spdl_analysis_others_hold_cores (
          c, gst_spdl_analysis_find_most_computing (c)))
    return conclude_others (c, gst_spdl_analysis_find_most_computing (c));
  return conclude_balanced (c);
}

/* Returns TRUE if the statistics describe what the pipeline can do. */
static gboolean
is_conclusive (const GstSpdlDiagnosis *d)
{
  return d->limit != GST_SPDL_LIMIT_TOO_FEW &&
         d->limit != GST_SPDL_LIMIT_IDLE && d->limit != GST_SPDL_LIMIT_CACHED &&
         d->limit != GST_SPDL_LIMIT_FAILURES;
}

static GstSpdlDiagnosis *
conclude (const GstSpdlAnalysis *c)
{
  GstSpdlDiagnosis *d = diagnose_view (c);

  if (is_conclusive (d))
    d->roofline = gst_spdl_roofline_new (c);
  return d;
}

/**
 * gst_spdl_diagnose:
 * @stages: (element-type Gst.Structure) (transfer none): statistics of the
 *     pipeline's elements, as in `stage-stats` and `spdl-stage-stats`, from the
 *     source to the sink, all of the same interval or all since the start. An
 *     element without statistics is a structure with its name in the field
 *     `stage`, and, if its number of threads can be set, with the fields
 *     `threads-property` (string) and `threads` (uint). If the duration of a
 *     training step without loading is known, the sink's structure has it as
 *     `given-step-time` (uint64, in ns)
 * @num_cores: number of cores that the process may use; 0: unknown
 * @cpu_time: CPU time of the process in that interval, in ns; 0: use that of
 *     the stages' workers
 *
 * Finds the bottleneck of a pipeline and suggests a change.
 *
 * If other processes use the same cores, a stage that computes looks like a
 * stage that waits. gst_spdl_diagnose_with_cpus() can tell them apart.
 *
 * Returns: (transfer full): the diagnosis
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_diagnose (GList *stages, guint num_cores, guint64 cpu_time)
{
  GstSpdlAnalysis c;
  GstSpdlDiagnosis *d;

  gst_spdl_analysis_init (&c, stages, num_cores, cpu_time);
  d = conclude (&c);
  gst_spdl_analysis_clear (&c);
  return d;
}

/**
 * gst_spdl_diagnose_with_cpus:
 * @stages: (element-type Gst.Structure) (transfer none): as for
 *     gst_spdl_diagnose()
 * @before: (nullable): result of gst_spdl_dup_cpu_stats() at the start of the
 *     interval of @stages
 * @after: (nullable): result of gst_spdl_dup_cpu_stats() at the end of the
 *     interval
 *
 * Finds the bottleneck like gst_spdl_diagnose(), and takes into account the
 * cores that the process may use and the load by other programs. If those use
 * the cores, the diagnosis is #GST_SPDL_LIMIT_OTHERS and does not suggest more
 * workers.
 *
 * Returns: (transfer full): the diagnosis
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_diagnose_with_cpus (
    GList *stages, const GstStructure *before, const GstStructure *after)
{
  GstSpdlAnalysis c;
  GstSpdlDiagnosis *d;

  gst_spdl_analysis_init (&c, stages, 0, 0);
  gst_spdl_analysis_add_cpus (&c, before, after);
  d = conclude (&c);
  gst_spdl_analysis_clear (&c);
  return d;
}
