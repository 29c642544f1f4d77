/* gst-spdl: statistics of a pipeline, prepared for a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/analysis.h"

#include <string.h>

#define CORES_BUSY 0.9
/* The process lacks cores if a thread waits for a core for at least this share
 * of the time. */
#define PRESSED 0.5
/* Tasks that use the CPU for a smaller share of their time do not lack a
 * core. */
#define LEAST_COMPUTING 0.1
/* A step is slow if it exceeds the given duration by this factor and by this
 * time. */
#define SLOW_STEP 1.2
#define MIN_SLOWNESS (200 * GST_USECOND)

/* Statistics of an element */

static guint64
get_number (const GstStructure *stats, const gchar *field)
{
  guint64 value = 0;

  gst_structure_get_uint64 (stats, field, &value);
  return value;
}

static guint
small_number (const GstStructure *stats, const gchar *field)
{
  guint value = 0;

  gst_structure_get_uint (stats, field, &value);
  return value;
}

static double
divide_shares (double part, double whole)
{
  return whole > 0 ? MIN (part / whole, 1.0) : 0;
}

/* Returns the share of the time in which a sink blocked upstream. A sink that
 * is not pulled from by signals reports only the blocked time per buffer. */
static double
put_share (const GstStructure *stats, const GstSpdlStageView *view)
{
  const guint64 batches = get_number (stats, "num-batches");
  const guint64 buffers = batches > 0 ? batches : view->items;

  return divide_shares (
      get_number (stats, "ave-put-time") * (double) buffers, view->elapsed);
}

static void
read_gauge (GstSpdlStageView *view, const GstStructure *stats)
{
  if (gst_structure_get_double (stats, "occupancy-rate", &view->fullness)) {
    view->has_gauge = TRUE;
  } else if (gst_structure_has_field (stats, "ave-put-time")) {
    view->fullness = put_share (stats, view);
    view->has_gauge = TRUE;
  }
}

static void
read_tasks (GstSpdlStageView *view, const GstStructure *stats)
{
  const double working = (double) view->tasks * view->ave_time;

  view->concurrency = MAX (small_number (stats, "concurrency"), 1);
  view->max_concurrency = small_number (stats, "max-concurrency");
  view->busy =
      divide_shares (working, (double) view->elapsed * view->concurrency);
  view->has_push = gst_structure_get_double (stats, "push-rate", &view->push);
  view->computing = divide_shares (view->cpu_time, working);
}

/* Reads the statistics of an element. @view borrows strings from @stats. */
static void
gst_spdl_stage_view_read (GstSpdlStageView *view, const GstStructure *stats)
{
  memset (view, 0, sizeof *view);
  view->name = gst_structure_get_string (stats, "stage");
  if (!view->name)
    view->name = gst_structure_get_name (stats);
  view->has_figures =
      gst_structure_get_uint64 (stats, "elapsed", &view->elapsed);
  view->threads_property = gst_structure_get_string (stats, "threads-property");
  view->threads = small_number (stats, "threads");
  view->silent = get_number (stats, "silent-time");
  if (!view->has_figures)
    return;

  view->items = get_number (stats, "num-items");
  view->queue_size = small_number (stats, "queue-size");
  view->in_order = g_strcmp0 (gst_structure_get_string (stats, "output-order"),
                       "input") == 0;
  gst_structure_get_boolean (stats, "automatic", &view->automatic);
  gst_structure_get_boolean (stats, "throttled", &view->throttled);
  view->is_stage = gst_structure_get_uint64 (stats, "num-tasks", &view->tasks);
  view->failures = get_number (stats, "num-failures");
  view->ave_time = get_number (stats, "ave-time");
  view->p90_time = get_number (stats, "p90-time");
  view->p99_time = get_number (stats, "p99-time");
  view->cpu_time = get_number (stats, "cpu-time");
  view->http_time = get_number (stats, "http-cpu-time");
  view->http_threads = MAX (get_number (stats, "http-threads"), 1);
  view->rate_paused = get_number (stats, "rate-limit-time");
  view->rate_limit = gst_structure_get_string (stats, "rate-limit");
  view->batches = get_number (stats, "num-batches");
  view->cached = get_number (stats, "num-cached");
  view->worker_time = get_number (stats, "worker-time");
  view->worker_wait = get_number (stats, "worker-wait-time");
  view->has_put_time =
      gst_structure_get_uint64 (stats, "ave-put-time", &view->put_time);
  view->get_time = get_number (stats, "ave-get-time");
  view->ave_step = get_number (stats, "ave-step-time");
  view->p50_step = get_number (stats, "p50-step-time");
  view->p99_step = get_number (stats, "p99-step-time");
  view->given_step = get_number (stats, "given-step-time");
  read_gauge (view, stats);
  if (view->is_stage)
    read_tasks (view, stats);
}

static void
add_up (GstSpdlAnalysis *self, guint64 cpu_time)
{
  guint64 of_stages = 0;

  for (guint i = 0; i < self->n_views; i++) {
    of_stages += self->views[i].cpu_time;
    self->elapsed = MAX (self->elapsed, self->views[i].elapsed);
  }
  if (cpu_time == 0)
    cpu_time = of_stages;
  if (self->elapsed > 0)
    self->busy_cores = cpu_time / (double) self->elapsed;
  self->loading_time = MAX (cpu_time, of_stages);
}

/* Counts the work of spdlbatch that workers of a stage do as theirs, and not as
 * time in which the stage pushes results. */
static void
credit_workers (GstSpdlAnalysis *self)
{
  GstSpdlStageView *stage = NULL;

  for (guint i = 0; i < self->n_views; i++) {
    GstSpdlStageView *view = &self->views[i];

    if (view->is_stage)
      stage = view;
    if (!stage || view->worker_time == 0)
      continue;
    const double capacity = (double) stage->elapsed * stage->concurrency;
    const double working = stage->busy * capacity + view->worker_time;

    stage->computing = divide_shares (stage->cpu_time, working);
    stage->busy = divide_shares (working, capacity);
    stage->push -=
        MIN (divide_shares (view->worker_wait, view->elapsed), stage->push);
  }
}

static void
find_busiest (GstSpdlAnalysis *self)
{
  for (guint i = 0; i < self->n_views; i++) {
    const GstSpdlStageView *view = &self->views[i];

    if (!view->is_stage)
      continue;
    if (!self->top || view->busy > self->top->busy) {
      self->second = self->top;
      self->top = view;
    } else if (!self->second || view->busy > self->second->busy) {
      self->second = view;
    }
  }
}

void
gst_spdl_analysis_init (
    GstSpdlAnalysis *self, GList *stages, guint num_cores, guint64 cpu_time)
{
  *self = (GstSpdlAnalysis){
    .num_cores = num_cores, .pressure = -1, .delayed = -1
  };
  self->n_views = g_list_length (stages);
  self->views = g_new0 (GstSpdlStageView, self->n_views);
  for (guint i = 0; i < self->n_views; i++, stages = stages->next)
    gst_spdl_stage_view_read (&self->views[i], stages->data);
  add_up (self, cpu_time);
  credit_workers (self);
  find_busiest (self);
}

void
gst_spdl_analysis_clear (GstSpdlAnalysis *self)
{
  g_clear_pointer (&self->views, g_free);
}

/* Returns the increase of the counter @name, as a multiple of @elapsed.
 * Negative if it is missing or ran backwards. */
static double
get_share (const GstStructure *before, const GstStructure *after,
    const gchar *name, guint64 elapsed)
{
  guint64 from, to;

  if (!gst_structure_get_uint64 (before, name, &from) ||
      !gst_structure_get_uint64 (after, name, &to) || to < from)
    return -1;
  return (to - from) / (double) elapsed;
}

void
gst_spdl_analysis_add_cpus (GstSpdlAnalysis *self, const GstStructure *before,
    const GstStructure *after)
{
  guint64 from, to;
  double process, loading, busy, idle;
  guint num_cpus;

  if (!after)
    return;
  gst_structure_get_double (after, "num-cores", &self->num_cores);
  if (!before || !gst_structure_get_uint64 (before, "time", &from) ||
      !gst_structure_get_uint64 (after, "time", &to) || to <= from)
    return;
  self->pressure = get_share (before, after, "pressure-time", to - from);
  self->delayed = get_share (before, after, "delay-time", to - from);
  process = get_share (before, after, "process-time", to - from);
  if (process >= 0)
    self->busy_cores = process;
  /* If the threads that load are not known, all of the process are. */
  loading = get_share (before, after, "loading-time", 1);
  self->loading_time = loading >= 0
                           ? self->loading_time + loading
                           : MAX (self->loading_time, process * (to - from));
  busy = get_share (before, after, "busy-time", to - from);
  idle = get_share (before, after, "idle-time", to - from);
  /* In some sandboxes, the counters do not change. */
  if (busy < 0 || idle < 0 ||
      !gst_structure_get_uint (after, "num-cpus", &num_cpus) ||
      busy + idle < 0.5 * num_cpus)
    return;
  self->num_cpus = num_cpus;
  self->idle_cores = idle;
  self->other_cores = MAX (busy - self->busy_cores, 0);
}

gboolean
gst_spdl_analysis_cores_are_busy (const GstSpdlAnalysis *self)
{
  return self->num_cores > 0 &&
         self->busy_cores >= CORES_BUSY * self->num_cores;
}

/* Returns TRUE if the tasks that do not compute wait for cores rather than, for
 * example, for a server. The delay covers all threads of the process; the share
 * of the stage is estimated from its share of the CPU time. */
static gboolean
waits_for_cores (const GstSpdlAnalysis *self, const GstSpdlStageView *view)
{
  const double busy = view->busy * view->concurrency;
  const double computing = busy * view->computing;
  const double share =
      computing < self->busy_cores ? computing / self->busy_cores : 1;

  if (view->computing >= GST_SPDL_COMPUTES)
    return TRUE;
  if (self->delayed >= 0)
    return share * self->delayed >= 0.5 * (busy - computing);
  return view->computing >= LEAST_COMPUTING && self->pressure >= PRESSED &&
         view == gst_spdl_analysis_find_most_computing (self);
}

gboolean
gst_spdl_analysis_others_hold_cores (
    const GstSpdlAnalysis *self, const GstSpdlStageView *view)
{
  if (self->num_cores <= 0 || gst_spdl_analysis_cores_are_busy (self) ||
      !view || !waits_for_cores (self, view))
    return FALSE;
  if (self->num_cpus == 0)
    return self->pressure >= PRESSED;
  return self->busy_cores >= CORES_BUSY * (self->busy_cores + self->idle_cores);
}

const GstSpdlStageView *
gst_spdl_analysis_find_most_computing (const GstSpdlAnalysis *self)
{
  const GstSpdlStageView *found = NULL;

  for (guint i = 0; i < self->n_views; i++)
    if (self->views[i].is_stage &&
        (!found || self->views[i].cpu_time > found->cpu_time))
      found = &self->views[i];
  return found;
}

guint
gst_spdl_analysis_find_gauge (const GstSpdlAnalysis *self, guint from)
{
  while (from < self->n_views && !self->views[from].has_gauge)
    from++;
  return from;
}

guint
gst_spdl_analysis_find_last_full (const GstSpdlAnalysis *self)
{
  guint found = self->n_views;

  for (guint i = gst_spdl_analysis_find_gauge (self, 0); i < self->n_views;
       i = gst_spdl_analysis_find_gauge (self, i + 1))
    if (self->views[i].is_stage && self->views[i].fullness >= GST_SPDL_FULL)
      found = i;
  return found;
}

const GstSpdlStageView *
gst_spdl_analysis_get_sink (const GstSpdlAnalysis *self)
{
  const GstSpdlStageView *last =
      self->n_views > 0 ? &self->views[self->n_views - 1] : NULL;

  return last && last->has_gauge && !last->is_stage ? last : NULL;
}

gboolean
gst_spdl_analysis_step_is_slow (const GstSpdlAnalysis *self)
{
  const GstSpdlStageView *sink = gst_spdl_analysis_get_sink (self);

  if (!sink || sink->given_step == 0 || sink->batches < GST_SPDL_MIN_STEPS ||
      sink->p50_step < SLOW_STEP * sink->given_step)
    return FALSE;
  return sink->p50_step - sink->given_step >=
         MAX (sink->get_time, MIN_SLOWNESS);
}

const GstSpdlStageView *
gst_spdl_analysis_find_cache (const GstSpdlAnalysis *self)
{
  for (guint i = 0; i < self->n_views; i++)
    if (self->views[i].cached > 0)
      return &self->views[i];
  return NULL;
}

gboolean
gst_spdl_analysis_any_foreign (
    const GstSpdlAnalysis *self, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (!self->views[i].has_figures)
      return TRUE;
  return FALSE;
}

gboolean
gst_spdl_analysis_downstream_is_slow (
    const GstSpdlAnalysis *self, guint full, guint next)
{
  const GstSpdlStageView *view = &self->views[full];

  if (next == full + 1)
    return FALSE;
  return !view->has_push || view->push >= GST_SPDL_FULL;
}

/* Elements of other projects */

static gboolean
only_forwards (GstElement *element)
{
  static const gchar *factories[] = { "queue", "queue2", "multiqueue",
    "capsfilter", "tee", "funnel", NULL };
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory && g_strv_contains (factories, GST_OBJECT_NAME (factory));
}

/* Adds the thread count of an element that is not from gst-spdl, if it has a
 * property for it. */
static void
add_threads (GstStructure *stats, GstElement *element)
{
  static const gchar *properties[] = { "n-threads", "max-threads" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    GValue value = G_VALUE_INIT;
    gint n = 0;

    if (!g_object_class_find_property (
            G_OBJECT_GET_CLASS (element), properties[i]))
      continue;
    g_value_init (&value, G_TYPE_INT);
    g_object_get_property (G_OBJECT (element), properties[i], &value);
    n = g_value_get_int (&value);
    g_value_unset (&value);
    /* 0: chosen automatically. */
    if (n > 0)
      gst_structure_set (stats, "threads-property", G_TYPE_STRING,
          properties[i], "threads", G_TYPE_UINT, (guint) n, NULL);
    return;
  }
}

GstStructure *
gst_spdl_make_foreign_stats (GstElement *element, const gchar *name)
{
  GstStructure *s;

  if (only_forwards (element))
    return NULL;
  s = gst_structure_new ("foreign", "stage", G_TYPE_STRING, name, NULL);
  add_threads (s, element);
  return s;
}
