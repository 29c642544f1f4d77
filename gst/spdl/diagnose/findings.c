/* gst-spdl: rules and texts of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

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

GstSpdlDiagnosis *
gst_spdl_finding_idle (const GstSpdlAnalysis *c)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, NULL);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("no item moved in %.1f s", to_seconds (c->elapsed)),
      "the pipeline is idle");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_stalled (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, view->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf (
          "no task of %s ended in %.1f s, although items are waiting before it",
          view->name, to_seconds (c->elapsed)),
      "see what its tasks wait for");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_silent (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_IDLE, view->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("the worker process of %s has not answered for %.0f s",
          view->name, to_seconds (view->silent)),
      "find out what stopped it, such as a signal or storage that hangs");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_too_few (
    const GstSpdlAnalysis *c, const gchar *what, guint64 n)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_TOO_FEW, NULL);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%" G_GUINT64_FORMAT
                       " %s in %.1f s are too few to find a bottleneck",
          n, what, to_seconds (c->elapsed)),
      "let it run longer");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_failures (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_FAILURES, view->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " items of %s failed",
          view->failures, view->items, view->name),
      "read the reasons of the failed items; speed does not matter before "
      "that");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_rate_limit (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_WAITING, view->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%s pauses %d %% of the time, as a server limits the "
                       "rate of requests: %s",
          view->name, to_percent (view->rate_paused / (double) view->elapsed),
          view->rate_limit ? view->rate_limit : "unknown limit"),
      "more concurrency does not help; read larger objects such as shards, "
      "keep items in cache-dir, or ask for a higher limit");
  return d;
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

GstSpdlDiagnosis *
gst_spdl_finding_stage (const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  const gboolean computes = view->computing >= GST_SPDL_COMPUTES;
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (
      computes ? GST_SPDL_LIMIT_COMPUTING : GST_SPDL_LIMIT_WAITING, view->name);

  if (view == c->top && c->second && c->second->busy > 0)
    d->gain = view->busy / c->second->busy;
  if (view->automatic) {
    gst_spdl_diagnosis_say (d, describe_stage (view),
        "%s.concurrency is automatic (currently %u)", view->name,
        view->concurrency);
    return d;
  }
  gst_spdl_diagnosis_say (d, describe_stage (view),
      "raise %s.concurrency, now %u", view->name, view->concurrency);
  gst_spdl_diagnosis_suggest (d, "concurrency",
      g_strdup_printf ("%u", more_concurrency (c, view, d->gain)));
  return d;
}

/* The stages may not be the main user of the cores; the trainer may be. */
GstSpdlDiagnosis *
gst_spdl_finding_cores (const GstSpdlAnalysis *c)
{
  const GstSpdlStageView *view = gst_spdl_analysis_find_most_computing (c);
  const double of_it = view ? view->cpu_time / (double) c->elapsed : 0;
  const gchar *name = of_it >= MOST * c->busy_cores ? view->name : NULL;
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CORES, name);
  GString *reason = g_string_new (NULL);

  g_string_append_printf (
      reason, "%.1f of %.4g cores are busy", c->busy_cores, c->num_cores);
  if (of_it > 0)
    g_string_append_printf (reason, ", %.1f of them by %s", of_it, view->name);
  gst_spdl_diagnosis_say (d, g_string_free (reason, FALSE),
      "more concurrency does not help; reduce the work%s%s or add cores",
      name ? " in " : "", name ? name : "");
  return d;
}

/* Names no element, because none is the bottleneck. */
GstSpdlDiagnosis *
gst_spdl_finding_others (const GstSpdlAnalysis *c, const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_OTHERS, NULL);
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
  gst_spdl_diagnosis_say (d, g_string_free (reason, FALSE),
      "stop the other programs or move them to other cores; more concurrency "
      "does not help");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_balanced (const GstSpdlAnalysis *c)
{
  GstSpdlDiagnosis *d = gst_spdl_diagnosis_new (GST_SPDL_LIMIT_BALANCED, NULL);

  if (c->second && c->second->busy >= GST_SPDL_BUSY)
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("%s is busy %d %% of the time and %s %d %%",
            c->top->name, to_percent (c->top->busy), c->second->name,
            to_percent (c->second->busy)),
        "balanced, raising one alone gains little");
  else if (c->top)
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("no stage stands out, and the busiest, %s, is busy %d "
                         "%% of the time",
            c->top->name, to_percent (c->top->busy)),
        "balanced, nothing to raise");
  else
    gst_spdl_diagnosis_say (
        d, g_strdup ("no element stands out"), "balanced, nothing to raise");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_straggler (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_STRAGGLER, view->name);
  g_autofree gchar *ave = gst_spdl_diagnosis_format_time (view->ave_time);
  g_autofree gchar *p99 = gst_spdl_diagnosis_format_time (view->p99_time);

  gst_spdl_diagnosis_say (d,
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

GstSpdlDiagnosis *
gst_spdl_finding_held (const GstSpdlStageView *view)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_HELD, view->name);

  if (view->throttled) {
    gst_spdl_diagnosis_say (d,
        g_strdup_printf ("the CPU budget limits %s", view->name),
        "this is its purpose; reduce the work, or raise the budget");
    return d;
  }
  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("items wait before %s although its workers are idle %d "
                       "%% of the time",
          view->name, to_percent (1 - view->busy)),
      "check its thread-pool and max-bytes, and whether other processes use "
      "the cores");
  return d;
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

GstSpdlDiagnosis *
gst_spdl_finding_consumer (const GstSpdlStageView *sink)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CONSUMER, sink->name);

  gst_spdl_diagnosis_say (
      d, describe_consumer (sink), "the pipeline keeps up, nothing to do");
  return d;
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

GstSpdlDiagnosis *
gst_spdl_finding_contention (
    const GstSpdlAnalysis *c, const GstSpdlStageView *sink)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CONTENTION, sink->name);
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
  gst_spdl_diagnosis_say (d, g_string_free (reason, FALSE), "%s", advice);
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_cached (const GstSpdlStageView *cache)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_CACHED, cache->name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " batches came from %s",
          cache->cached, MAX (cache->batches, cache->cached), cache->name),
      "this is the rate that the trainer can reach, not the rate of the "
      "pipeline");
  return d;
}

GstSpdlDiagnosis *
gst_spdl_finding_source (const GstSpdlAnalysis *c, guint gauge)
{
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_SOURCE, c->views[0].name);

  gst_spdl_diagnosis_say (d,
      g_strdup_printf ("%s is slow, since %s after it starves",
          c->views[0].name, c->views[gauge].name),
      "no concurrency to raise; write the indexes of shards in advance, or "
      "speed up the iterable that feeds the pipeline");
  return d;
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

GstSpdlDiagnosis *
gst_spdl_finding_element (const GstSpdlAnalysis *c, guint before, guint after)
{
  const Suspects all =
      find_suspects (c, before < c->n_views ? before + 1 : 0, after);
  GstSpdlDiagnosis *d =
      gst_spdl_diagnosis_new (GST_SPDL_LIMIT_ELEMENT, all.first->name);
  gchar *reason = describe_suspects (c, &all, before, after);

  if (all.first->threads_property && all.n == 1) {
    gst_spdl_diagnosis_say (d, reason, "raise %s.%s, now %u", all.first->name,
        all.first->threads_property, all.first->threads);
    gst_spdl_diagnosis_suggest (d, all.first->threads_property,
        g_strdup_printf ("%u", MAX (all.first->threads, 1) * 2));
  } else {
    gst_spdl_diagnosis_say (
        d, reason, "%s", advise_on_suspects (c, &all, before, after));
  }
  g_string_free (all.names, TRUE);
  return d;
}
