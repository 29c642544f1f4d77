/* gst-spdl: maximum throughput of a pipeline on this machine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/analysis.h"

#include <math.h>

#include "gst/spdl/diagnose/diagnosis-private.h"

/* A thread that is in use for a smaller share of the time is not a limit: the
 * share consists mostly of measurement errors. */
#define MIN_SECTION 0.05
/* The same for the thread of a source, which also counts the time until its
 * first item. */
#define MIN_SOURCE 0.25
/* If steps take a smaller share of the time, there is no trainer. */
#define MIN_STEP 0.01
/* Number of cores from which the use by other programs is mentioned. */
#define MIN_OTHERS 0.1
/* Batches between the last stage and the trainer. */
#define BATCHES_IN_FLIGHT 4

/* A limit of the throughput. */
typedef struct {
  double rate; /* items per second that reach the sink */
  GstSpdlLimit limit;
  const GstSpdlStageView *view; /* nullable */
  double time;                  /* of an item, or of a task, in ns */
  gboolean of_requests; /* the time is that of the threads for requests */
} Limit;

typedef struct {
  const GstSpdlAnalysis *analysis;
  guint64 items;     /* that reached the sink */
  guint64 batches;   /* 0: unknown */
  guint64 in_flight; /* maximum number of items on the way */
  double cpu_time;   /* of an item, in ns */
  Limit lowest;
} Roofline;

static void
count_output (Roofline *self)
{
  const GstSpdlAnalysis *c = self->analysis;

  for (guint i = 0; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];
    const double size =
        view->tasks > 0 ? view->items / (double) view->tasks : 1;

    if (!view->has_figures)
      continue;
    self->items = view->items;
    self->batches = view->batches;
    if (view->is_stage)
      self->in_flight +=
          (guint64) ((view->concurrency + view->queue_size) * MAX (size, 1));
  }
  if (self->batches > 0)
    self->in_flight += BATCHES_IN_FLIGHT * (self->items / self->batches + 1);
}

/* Returns how many items of the sink the items of @view are worth. They differ
 * if items are dropped, or if an element makes several items of one. */
static double
count_worth (const Roofline *self, const GstSpdlStageView *view)
{
  const guint64 difference = view->items > self->items
                                 ? view->items - self->items
                                 : self->items - view->items;

  return difference <= self->in_flight ? view->items : self->items;
}

static void
add_limit (Roofline *self, Limit limit)
{
  if (isfinite (limit.rate) && limit.rate > 0 &&
      (self->lowest.rate == 0 || limit.rate < self->lowest.rate))
    self->lowest = limit;
}

/* Sums up the CPU time of an item in the stages and in all other threads that
 * load. Items on the way have already used CPU time, so each stage is divided
 * by its own number of items. */
static void
find_cpu_time (Roofline *self)
{
  const GstSpdlAnalysis *c = self->analysis;
  double rest = c->loading_time;

  for (guint i = 0; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (view->cpu_time == 0 || view->items == 0)
      continue;
    self->cpu_time += view->cpu_time / count_worth (self, view);
    rest -= view->cpu_time;
  }
  self->cpu_time += MAX (rest, 0) / self->items;
}

/* Adds the limit of the largest number of tasks. The duration of a task may
 * include waiting for a core. This hardly matters: if tasks compute, the cores
 * are a lower limit. */
static void
add_stage (Roofline *self, const GstSpdlStageView *view)
{
  const double time = view->ave_time;
  const guint n = MAX (view->max_concurrency, view->concurrency);

  if (view->tasks == 0 || time <= 0)
    return;
  add_limit (
      self, (Limit){ n * 1e9 / time * count_worth (self, view) / view->tasks,
                GST_SPDL_LIMIT_WAITING, view, time });
}

/* Adds the limit of the threads that run the requests of a stage. */
static void
add_requests (Roofline *self, const GstSpdlStageView *view)
{
  const double time = view->http_time / count_worth (self, view);

  if (time > 0)
    add_limit (self, (Limit){ view->http_threads * 1e9 / time,
                         GST_SPDL_LIMIT_ELEMENT, view, time, TRUE });
}

/* Returns the time in which @view blocked the element before it, in ns. The
 * statistics lack the wait that is in progress. */
static double
get_blocked_time (const GstSpdlStageView *view)
{
  const guint64 puts = view->is_stage      ? view->tasks
                       : view->batches > 0 ? view->batches
                                           : view->items;

  return (double) view->put_time * (puts + 1);
}

/* Adds the limit of the thread that pushes from @view to the element at @next
 * (n_views: to the end). It runs all elements between them, one item after the
 * other. Time in which the next element blocks it does not count. */
static void
add_section (Roofline *self, const GstSpdlStageView *view, guint next)
{
  const GstSpdlAnalysis *c = self->analysis;
  double used = view->push * view->elapsed;
  double passed = self->items;

  if (next < c->n_views) {
    used -= get_blocked_time (&c->views[next]);
    passed = count_worth (self, &c->views[next]);
  }
  if (used < MIN_SECTION * view->elapsed)
    return;
  const double time = used / passed;
  add_limit (self, (Limit){ 1e9 / time, GST_SPDL_LIMIT_ELEMENT, view, time });
}

/* Adds the limit of the thread of the source, which also runs the elements
 * before the gauge at @first. It may have ended while the last items were on
 * the way, and is not a limit if only their share of the time is left. */
static void
add_source (Roofline *self, guint first)
{
  const GstSpdlStageView *source = &self->analysis->views[0];
  const GstSpdlStageView *view = &self->analysis->views[first];
  const double late = self->in_flight / count_worth (self, view);
  const double used = view->elapsed - get_blocked_time (view);

  if (!view->has_put_time || used < (MIN_SOURCE + late) * view->elapsed)
    return;
  const double time = used / count_worth (self, view);
  add_limit (self, (Limit){ 1e9 / time, GST_SPDL_LIMIT_SOURCE, source, time });
}

static void
find_limits (Roofline *self)
{
  const GstSpdlAnalysis *c = self->analysis;
  const guint first = gst_spdl_analysis_find_gauge (c, 0);

  find_cpu_time (self);
  if (c->num_cores > 0)
    add_limit (self, (Limit){ c->num_cores * 1e9 / self->cpu_time,
                         GST_SPDL_LIMIT_CORES, NULL, self->cpu_time });
  if (first > 0 && first < c->n_views)
    add_source (self, first);
  for (guint i = first; i < c->n_views; i++) {
    const GstSpdlStageView *view = &c->views[i];

    if (view->is_stage) {
      add_stage (self, view);
      add_requests (self, view);
    }
    if (view->has_push)
      add_section (self, view, gst_spdl_analysis_find_gauge (c, i + 1));
  }
}

/* Result */

static gchar *
format_rate (double rate)
{
  return rate < 100 ? g_strdup_printf ("%.3g", rate)
                    : g_strdup_printf ("%.0f", rate);
}

static gchar *
describe_limit (const Roofline *self)
{
  const GstSpdlAnalysis *c = self->analysis;
  const Limit *lowest = &self->lowest;
  g_autofree gchar *time = gst_spdl_diagnosis_format_time (lowest->time);
  g_autofree gchar *others =
      c->num_cpus > 0 && c->other_cores >= MIN_OTHERS
          ? g_strdup_printf (" (other programs now use %.1f)", c->other_cores)
          : g_strdup ("");

  switch (lowest->limit) {
    case GST_SPDL_LIMIT_CORES:
      return g_strdup_printf ("an item takes %s of CPU time on %.4g core%s%s",
          time, c->num_cores, c->num_cores == 1 ? "" : "s", others);
    case GST_SPDL_LIMIT_WAITING:
      return g_strdup_printf ("a task of %s takes %s, and %u run at most",
          lowest->view->name, time,
          MAX (lowest->view->max_concurrency, lowest->view->concurrency));
    case GST_SPDL_LIMIT_SOURCE:
      return g_strdup_printf (
          "the thread of %s takes %s for an item", lowest->view->name, time);
    default:
      if (lowest->of_requests)
        return g_strdup_printf ("requests of %s take %s of CPU time for an "
                                "item, in at most %u thread%s",
            lowest->view->name, time, lowest->view->http_threads,
            lowest->view->http_threads == 1 ? "" : "s");
      return g_strdup_printf ("the elements after %s, which share a thread, "
                              "take %s for an item",
          lowest->view->name, time);
  }
}

/* Adds the rate at which the trainer takes items, and the cores that loading at
 * this rate needs.
 *
 * Returns: (transfer full) (nullable): a sentence on them */
static gchar *
add_trainer (const Roofline *self, GstStructure *s)
{
  const GstSpdlStageView *sink = gst_spdl_analysis_get_sink (self->analysis);

  if (!sink || sink->batches < GST_SPDL_MIN_STEPS || sink->ave_step == 0 ||
      sink->ave_step < MIN_STEP * (sink->ave_step + sink->get_time))
    return NULL;
  const double rate =
      self->items / (double) self->batches * 1e9 / sink->ave_step;
  const double cores = rate * self->cpu_time / 1e9;
  g_autofree gchar *text = format_rate (rate);

  gst_structure_set (s, "trainer-items-per-second", G_TYPE_DOUBLE, rate,
      "trainer-cores", G_TYPE_DOUBLE, cores, NULL);
  return g_strdup_printf ("the trainer takes at most %s items/s, and loading "
                          "these needs %.2g cores",
      text, cores);
}

/* @batches: items as batches, 0: unknown
 * @trainer: (nullable): sentence on the trainer */
static gchar *
make_sentence (const Roofline *self, double batches, const gchar *trainer)
{
  g_autofree gchar *items_text = format_rate (self->lowest.rate);
  g_autofree gchar *batches_text = format_rate (batches);
  g_autofree gchar *why = describe_limit (self);
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text, "this machine can load %s items/s at most", items_text);
  if (batches > 0)
    g_string_append_printf (text, " (%s batches/s)", batches_text);
  g_string_append_printf (text, ", since %s", why);
  if (trainer)
    g_string_append_printf (text, "; %s", trainer);
  return g_string_free (text, FALSE);
}

static GstStructure *
make_structure (const Roofline *self)
{
  const Limit *lowest = &self->lowest;
  const double batches =
      self->batches > 0 ? lowest->rate * self->batches / self->items : 0;
  GstStructure *s = gst_structure_new ("spdl-roofline", "items-per-second",
      G_TYPE_DOUBLE, lowest->rate, "limit", G_TYPE_STRING,
      gst_spdl_limit_get_nick (lowest->limit), "cpu-time", G_TYPE_UINT64,
      (guint64) self->cpu_time, NULL);
  g_autofree gchar *trainer = add_trainer (self, s);
  g_autofree gchar *sentence = make_sentence (self, batches, trainer);

  if (batches > 0)
    gst_structure_set (s, "batches-per-second", G_TYPE_DOUBLE, batches, NULL);
  if (lowest->view)
    gst_structure_set (s, "element", G_TYPE_STRING, lowest->view->name, NULL);
  if (self->analysis->num_cores > 0)
    gst_structure_set (
        s, "cores", G_TYPE_DOUBLE, self->analysis->num_cores, NULL);
  gst_structure_set (s, "sentence", G_TYPE_STRING, sentence, NULL);
  return s;
}

GstStructure *
gst_spdl_roofline_new (const GstSpdlAnalysis *c)
{
  Roofline self = { .analysis = c };

  count_output (&self);
  if (self.items == 0)
    return NULL;
  find_limits (&self);
  return self.lowest.rate > 0 ? make_structure (&self) : NULL;
}
