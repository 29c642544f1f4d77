/* gst-spdl-launch: comparison of loading with cached batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/launch/modes/points.h"
#include "tools/launch/views/json.h"

#define DEFAULT_DURATION 3.0 /* s per run, after the warm-up */
#define WARM_UP 0.25         /* warm-up, relative to the duration */
#define N_CACHES 10
/* Number of batches that may be in the sink's queue or in use when caching
 * starts. */
#define IN_HAND 3
/* Ratio from which a training step counts as slowed down by loading. */
#define SLOW_STEP 1.1
/* A gain of at least the first value is worth optimizing for; one below the
 * second is negligible. */
#define WORTH_IT 0.10
#define NONE 0.05

/* Result of one run. */
typedef struct {
  Point point; /* first, so that runs are points */
  gboolean cached;
  double batch_time;          /* s per batch */
  double wait;                /* s of waiting per batch */
  guint64 p50_step, p99_step; /* ns */
} HeadspaceRun;

/* Results of all runs. */
typedef struct {
  const Options *options;
  SessionLimits limits;
  GPtrArray *runs; /* of HeadspaceRun, in order of execution */
  Gains gains;
} Headspace;

/* Gains */

static gint
compare_gains (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static Spread
spread_of (const double *values, guint n)
{
  g_autofree double *sorted = g_memdup2 (values, n * sizeof *values);

  qsort (sorted, n, sizeof *sorted, compare_gains);
  return (Spread){ (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[0],
    sorted[n - 1] };
}

static double
gain_of (double base, double cached)
{
  return base > 0 ? (base - cached) / base : 0;
}

void
gains_init (Gains *self, const double *base, const double *cached, guint n)
{
  g_autofree double *gains = g_new (double, n);
  Spread spread;

  for (guint i = 0; i < n; i++)
    gains[i] = gain_of (base[i], cached[i]);
  spread = spread_of (gains, n);
  self->n_rounds = n;
  self->base = spread_of (base, n);
  self->cached = spread_of (cached, n);
  self->headspace = gain_of (self->base.median, self->cached.median);
  self->least = MIN (spread.least, self->headspace);
  self->most = MAX (spread.most, self->headspace);
}

static const struct {
  const gchar *advice, *words;
} known[] = {
  { "stop", "stop here, loading is not the bottleneck" },
  { "small", "the gain is small, optimize other parts first" },
  { "worth-it", "loading is worth optimizing" },
};

static guint
find_advice (double gain)
{
  return gain < NONE ? 0 : gain <= WORTH_IT ? 1 : 2;
}

const gchar *
gains_get_advice (const Gains *self)
{
  return known[find_advice (self->headspace)].advice;
}

gboolean
gains_agree (const Gains *self)
{
  return find_advice (self->least) == find_advice (self->most);
}

static void
append_time (GString *text, const Spread *spread)
{
  g_autofree gchar *median = format_ns (spread->median * 1e9);
  g_autofree gchar *least = format_ns (spread->least * 1e9);
  g_autofree gchar *most = format_ns (spread->most * 1e9);

  g_string_append_printf (text, "%s (%s to %s)", median, least, most);
}

gchar *
gains_describe (const Gains *self)
{
  GString *text = g_string_new ("a batch takes ");

  append_time (text, &self->base);
  g_string_append (text, " with loading and ");
  append_time (text, &self->cached);
  g_string_append_printf (text,
      " from the cache, so perfect loading would save %.1f %% (%.1f to %.1f) "
      "of the time: %s",
      self->headspace * 100, self->least * 100, self->most * 100,
      known[find_advice (self->headspace)].words);
  if (self->n_rounds > 1 && !gains_agree (self))
    g_string_append (text,
        "; but the rounds disagree: use more --rounds or a longer --duration");
  return g_string_free (text, FALSE);
}

/* Runs */

static Session *
make_session (const Options *options, gboolean cached, GError **error)
{
  Session *session = session_new (
      options->pipeline, options->settings, cached ? N_CACHES : 0, error);

  if (session)
    parts_repeat (session->parts);
  return session;
}

/* Checks that both variants of the pipeline can be created, and that batches
 * can be pulled. */
static gboolean
check_options (const Headspace *self, GError **error)
{
  gboolean ok = TRUE;

  for (gint cached = 1; cached >= 0 && ok; cached--) {
    Session *session = make_session (self->options, cached, error);

    ok = session && session_check_limits (session, &self->limits, error);
    g_clear_pointer (&session, session_free);
  }
  return ok;
}

static gboolean
take_result (Session *session, HeadspaceRun *run, GError **error)
{
  const Snapshot *result = session->result;
  const GstStructure *trainer = snapshot_get_trainer (result);
  g_autofree gchar *batch = NULL;

  run->batch_time = session_get_batch_time (session, &run->wait);
  if (run->batch_time == 0 || !trainer) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "the stream ended after %" G_GUINT64_FORMAT
        " batches, too few to measure: set a higher epochs on its source",
        result->batches);
    return FALSE;
  }
  run->p50_step = stats_get (trainer, "p50-step-time");
  run->p99_step = stats_get (trainer, "p99-step-time");
  run->point.rate = session_get_steady_rate (session);
  run->point.cores = result->cores;
  run->point.n_runs = 1;
  batch = format_ns (run->batch_time * 1e9);
  run->point.detail = g_strdup_printf ("a batch takes %s", batch);
  return TRUE;
}

static const gchar *
name_run (gboolean cached)
{
  return cached ? "from the cache" : "with loading";
}

static gboolean
measure_rate (Headspace *self, gboolean cached, GError **error)
{
  Session *session = make_session (self->options, cached, error);
  HeadspaceRun *run = g_new0 (HeadspaceRun, 1);
  const gboolean ok =
      session && session_run (session, &self->limits, NULL, NULL, error) &&
      session->end != SESSION_INTERRUPTED && take_result (session, run, error);

  run->cached = cached;
  run->point.label = g_strdup (name_run (cached));
  if (ok)
    g_ptr_array_add (self->runs, run);
  else
    point_free (run);
  g_clear_pointer (&session, session_free);
  return ok;
}

/* Returns whether run @i is from the cache: a round is one run of each variant
 * in alternating order, so that drift affects both. */
static gboolean
is_cached (guint i)
{
  return (i % 2) ^ (i / 2 % 2);
}

/* Runs all rounds. After Ctrl-C, the complete rounds count. */
static gboolean
measure_all (Headspace *self, GError **error)
{
  const guint n = 2 * self->options->rounds;
  Interrupt interrupt;

  interrupt_begin (&interrupt);
  for (guint i = 0; i < n; i++) {
    fprintf (stderr, "%u of %u: %s\n", i + 1, n, name_run (is_cached (i)));
    if (!measure_rate (self, is_cached (i), error) ||
        interrupt_came (&interrupt))
      break;
  }
  interrupt_end (&interrupt);
  /* Drop an incomplete round. */
  g_ptr_array_set_size (self->runs, self->runs->len / 2 * 2);
  if (self->runs->len == 0 && !*error)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
        "interrupted in round 1 of %u, so there is no result", n / 2);
  return !*error;
}

static double
get_batch_time (const HeadspaceRun *run)
{
  return run->batch_time;
}

static double
get_step_time (const HeadspaceRun *run)
{
  return run->p50_step / 1e9;
}

static Gains
compare_rounds (
    const Headspace *self, double (*get_time) (const HeadspaceRun *run))
{
  const guint n = self->runs->len / 2;
  g_autofree double *base = g_new (double, n);
  g_autofree double *cached = g_new (double, n);
  Gains gains;

  for (guint i = 0; i < self->runs->len; i++)
    (is_cached (i) ? cached : base)[i / 2] =
        get_time (g_ptr_array_index (self->runs, i));
  gains_init (&gains, base, cached, n);
  return gains;
}

/* Says how much time loading takes, and how much it slows down the training
 * step, by the medians. */
static gchar *
make_verdict (const Headspace *self)
{
  const Gains steps = compare_rounds (self, get_step_time);
  g_autofree gchar *slow = format_ns (steps.base.median * 1e9);
  g_autofree gchar *fast = format_ns (steps.cached.median * 1e9);
  g_autofree gchar *sentence = gains_describe (&self->gains);

  if (steps.base.median < SLOW_STEP * steps.cached.median)
    return g_steal_pointer (&sentence);
  return g_strdup_printf (
      "%s; the step itself takes %s with loading and %s from the cache: "
      "loading slows the step down, in addition to the waiting",
      sentence, slow, fast);
}

/* Output */

static void
add_run (JsonBuilder *b, gconstpointer data)
{
  const HeadspaceRun *run = data;

  /* In nanoseconds, like all times in the files. */
  json_add (b, "cached", G_TYPE_BOOLEAN, run->cached, "batch-time",
      G_TYPE_UINT64, (guint64) (run->batch_time * 1e9), "p50-step-time",
      G_TYPE_UINT64, run->p50_step, "p99-step-time", G_TYPE_UINT64,
      run->p99_step, "ave-get-time", G_TYPE_UINT64, (guint64) (run->wait * 1e9),
      "items-per-second", G_TYPE_DOUBLE, run->point.rate, "cores",
      G_TYPE_DOUBLE, run->point.cores, NULL);
}

static void
add_spread (JsonBuilder *b, const gchar *name, const Spread *spread)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
  json_add (b, "batch-time", G_TYPE_UINT64, (guint64) (spread->median * 1e9),
      "least", G_TYPE_UINT64, (guint64) (spread->least * 1e9), "most",
      G_TYPE_UINT64, (guint64) (spread->most * 1e9), NULL);
  json_builder_end_object (b);
}

static void
add_headspace (JsonBuilder *b, gconstpointer user_data)
{
  const Headspace *self = user_data;

  json_add (b, "version", G_TYPE_STRING, PACKAGE_VERSION, "host", G_TYPE_STRING,
      g_get_host_name (), "step", G_TYPE_UINT64,
      (guint64) (self->options->step * 1e6), "advice", G_TYPE_STRING,
      gains_get_advice (&self->gains), "headspace", G_TYPE_DOUBLE,
      self->gains.headspace, "headspace-least", G_TYPE_DOUBLE,
      self->gains.least, "headspace-most", G_TYPE_DOUBLE, self->gains.most,
      NULL);
  add_spread (b, "base", &self->gains.base);
  add_spread (b, "cached", &self->gains.cached);
  json_add_array (b, "runs", self->runs, add_run);
}

static gchar *
format_runs (const Headspace *self)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text, "%-16s%10s%10s%10s%8s\n", "run", "batch", "step", "wait", "cores");
  for (guint i = 0; i < self->runs->len; i++) {
    const HeadspaceRun *run = g_ptr_array_index (self->runs, i);
    g_autofree gchar *batch = format_ns (run->batch_time * 1e9);
    g_autofree gchar *step = format_ns (run->p50_step);
    g_autofree gchar *wait = format_ns (run->wait * 1e9);

    g_string_append_printf (text, "%-16s%10s%10s%10s%8.1f\n", run->point.label,
        batch, step, wait, run->point.cores);
  }
  return g_string_free (text, FALSE);
}

int
headspace_run (const Options *options, GError **error)
{
  Headspace self = { options, options_get_limits (options, FALSE) };
  Conclusion conclusion = { .title = "Headspace",
    .chosen = POINTS_NONE,
    .add = add_headspace,
    .user_data = &self };
  int status = 1;

  self.limits.steady =
      (options->duration > 0 ? options->duration : DEFAULT_DURATION) *
      GST_SECOND;
  self.limits.duration = 0;
  self.limits.warm_up = self.limits.steady * WARM_UP;
  self.limits.skip_batches = N_CACHES + IN_HAND;
  if (!check_options (&self, error))
    return 2;
  self.runs = g_ptr_array_new_with_free_func (point_free);
  if (measure_all (&self, error)) {
    self.gains = compare_rounds (&self, get_batch_time);
    conclusion.table = format_runs (&self);
    conclusion.verdict = make_verdict (&self);
    status = conclude (options, self.runs, &conclusion, error);
    g_free (conclusion.table);
    g_free (conclusion.verdict);
  }
  g_ptr_array_unref (self.runs);
  return status;
}
