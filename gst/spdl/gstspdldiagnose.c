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
    return gst_spdl_finding_stalled (c, &c->views[full]);
  return moved == 0 ? gst_spdl_finding_idle (c) : NULL;
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

    return gst_spdl_finding_too_few (c, what, unknown->tasks);
  }
  if (moved < MIN_TASKS || c->elapsed < MIN_ELAPSED)
    return gst_spdl_finding_too_few (
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
    return gst_spdl_finding_straggler (view);
  if (slow)
    return gst_spdl_finding_element (c, full, next);
  if (gst_spdl_analysis_cores_are_busy (c))
    return gst_spdl_finding_cores (c);
  if (!view->throttled && gst_spdl_analysis_others_hold_cores (c, view))
    return gst_spdl_finding_others (c, view);
  if (view->busy >= RATHER_BUSY)
    return gst_spdl_finding_stage (c, view);
  return gst_spdl_finding_held (view);
}

/* Diagnoses a bottleneck before the first queue, which is empty most of the
 * time. */
static GstSpdlDiagnosis *
diagnose_before (const GstSpdlAnalysis *c, guint first)
{
  return gst_spdl_analysis_any_foreign (c, 1, first)
             ? gst_spdl_finding_element (c, c->n_views, first)
             : gst_spdl_finding_source (c, first);
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
  GstSpdlDiagnosis *d = silent    ? gst_spdl_finding_silent (silent)
                        : cache   ? gst_spdl_finding_cached (cache)
                        : failing ? gst_spdl_finding_failures (failing)
                        : limited ? gst_spdl_finding_rate_limit (limited)
                                  : diagnose_too_few (c);
  const guint first = gst_spdl_analysis_find_gauge (c, 0);
  const guint full = gst_spdl_analysis_find_last_full (c);
  const gboolean busy = c->top && c->top->busy >= GST_SPDL_BUSY;

  if (d)
    return d;
  if (gst_spdl_analysis_step_is_slow (c))
    return gst_spdl_finding_contention (c, sink);
  if (sink && sink->fullness >= GST_SPDL_FULL)
    return gst_spdl_finding_consumer (sink);
  if (full < c->n_views && c->views[full].throttled)
    return gst_spdl_finding_held (&c->views[full]);
  if (busy && (c->top->fullness > STARVED || is_balanced (c))) {
    if (gst_spdl_analysis_cores_are_busy (c))
      return gst_spdl_finding_cores (c);
    if (gst_spdl_analysis_others_hold_cores (c, c->top))
      return gst_spdl_finding_others (c, c->top);
    return is_balanced (c) ? gst_spdl_finding_balanced (c)
                           : gst_spdl_finding_stage (c, c->top);
  }
  if (full < c->n_views)
    return diagnose_behind (c, full);
  if (gst_spdl_analysis_cores_are_busy (c))
    return gst_spdl_finding_cores (c);
  if (first > 0 && first < c->n_views && c->views[first].fullness < STARVED)
    return diagnose_before (c, first);
  if (gst_spdl_analysis_others_hold_cores (
          c, gst_spdl_analysis_find_most_computing (c)))
    return gst_spdl_finding_others (
        c, gst_spdl_analysis_find_most_computing (c));
  return gst_spdl_finding_balanced (c);
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
