/* gst-spdl-launch: comparison of loading with cached batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <stdio.h>

#include "tools/launch/modes/gains.h"
#include "tools/launch/modes/points.h"
#include "tools/launch/run/pipeline.h"
#include "tools/launch/run/process.h"
#include "tools/launch/views/output.h"
#include "tools/launch/views/screen.h"
#include "tools/launch/views/table.h"

#define DEFAULT_DURATION 3.0 /* s per run, after the warm-up */
#define WARM_UP 0.25         /* warm-up, relative to the duration */
#define N_CACHES 10
/* Number of batches that may be in the sink's queue or in use when caching
 * starts. */
#define IN_HAND 3
/* Ratio from which a training step counts as slowed down by loading. */
#define SLOW_STEP 1.1

/* Result of one run. */
typedef struct {
  gboolean cached;
  double batch_time;          /* s per batch */
  double wait;                /* s of waiting per batch */
  guint64 p50_step, p99_step; /* ns */
  double rate;                /* items per second */
  double cores;
} HeadspaceRun;

/* Results of all runs. */
typedef struct {
  const Options *options;
  GArray *runs; /* of HeadspaceRun, in order of execution */
  Gains gains;
  gchar *verdict; /* sentence for the user */
} Headspace;

/* Output files */

static void
add_string (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_string_value (b, value);
}

static void
add_number (JsonBuilder *b, const gchar *name, double value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

/* In nanoseconds, like all times in the files. */
static void
add_time (JsonBuilder *b, const gchar *name, gint64 ns)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, ns);
}

static void
add_spread (JsonBuilder *b, const gchar *name, const Spread *spread)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
  add_time (b, "batch-time", spread->median * 1e9);
  add_time (b, "least", spread->least * 1e9);
  add_time (b, "most", spread->most * 1e9);
  json_builder_end_object (b);
}

static void
add_run (JsonBuilder *b, const HeadspaceRun *run)
{
  json_builder_begin_object (b);
  json_builder_set_member_name (b, "cached");
  json_builder_add_boolean_value (b, run->cached);
  add_time (b, "batch-time", run->batch_time * 1e9);
  add_time (b, "p50-step-time", run->p50_step);
  add_time (b, "p99-step-time", run->p99_step);
  add_time (b, "ave-get-time", run->wait * 1e9);
  add_number (b, "items-per-second", run->rate);
  add_number (b, "cores", run->cores);
  json_builder_end_object (b);
}

static gboolean
write_json (const Headspace *self, const gchar *description, GError **error)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  g_autofree gchar *line = NULL;

  json_builder_begin_object (b);
  add_string (b, "version", PACKAGE_VERSION);
  add_string (b, "pipeline", description);
  add_string (b, "host", g_get_host_name ());
  add_time (b, "step", self->options->step * 1e6);
  add_string (b, "verdict", self->verdict);
  add_string (b, "advice", gains_get_advice (&self->gains));
  add_number (b, "headspace", self->gains.headspace);
  add_number (b, "headspace-least", self->gains.least);
  add_number (b, "headspace-most", self->gains.most);
  add_spread (b, "base", &self->gains.base);
  add_spread (b, "cached", &self->gains.cached);
  json_builder_set_member_name (b, "runs");
  json_builder_begin_array (b);
  for (guint i = 0; i < self->runs->len; i++)
    add_run (b, &g_array_index (self->runs, HeadspaceRun, i));
  json_builder_end_array (b);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  text = json_to_string (root, TRUE);
  line = g_strconcat (text, "\n", NULL);
  return output_write (self->options->json, line, error);
}

/* Creates a bar for each run. */
static GPtrArray *
make_points (const Headspace *self)
{
  GPtrArray *points = g_ptr_array_new_with_free_func (point_free);

  for (guint i = 0; i < self->runs->len; i++) {
    const HeadspaceRun *run = &g_array_index (self->runs, HeadspaceRun, i);
    g_autofree gchar *batch = format_ns (run->batch_time * 1e9);
    Point *point = g_new0 (Point, 1);

    point->label = g_strdup (run->cached ? "from the cache" : "with loading");
    point->settings = g_new0 (gchar *, 1);
    point->rate = run->rate;
    point->n_runs = 1;
    point->cores = run->cores;
    point->detail = g_strdup_printf ("a batch takes %s", batch);
    g_ptr_array_add (points, point);
  }
  return points;
}

/* Writes the requested files. */
static gboolean
headspace_write_files (const Headspace *self, GError **error)
{
  const Options *options = self->options;
  g_autofree gchar *description = pipeline_describe (options->pipeline);
  g_autoptr (GPtrArray) points = make_points (self);

  if (options->json && !write_json (self, description, error))
    return FALSE;
  return !options->report ||
         points_write_report (points, options->report, "Headspace", description,
             self->verdict, POINTS_NONE, error);
}

static SessionLimits
get_limits (const Options *options)
{
  SessionLimits limits = options_get_limits (options, FALSE);

  limits.steady =
      (options->duration > 0 ? options->duration : DEFAULT_DURATION) *
      GST_SECOND;
  limits.duration = 0;
  limits.warm_up = limits.steady * WARM_UP;
  limits.skip_batches = N_CACHES + IN_HAND;
  return limits;
}

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
check_options (const Options *options, GError **error)
{
  const SessionLimits limits = get_limits (options);
  gboolean ok = TRUE;

  for (gint cached = 1; cached >= 0 && ok; cached--) {
    Session *session = make_session (options, cached, error);

    ok = session && session_check_limits (session, &limits, error);
    g_clear_pointer (&session, session_free);
  }
  return ok;
}

static gboolean
take_result (Session *session, HeadspaceRun *run, GError **error)
{
  const Snapshot *result = session->result;
  const GstStructure *trainer = snapshot_get_trainer (result);

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
  run->rate = session_get_steady_rate (session);
  run->cores = result->cores;
  return TRUE;
}

static gboolean
measure_rate (Headspace *self, gboolean cached, GError **error)
{
  const SessionLimits limits = get_limits (self->options);
  Session *session = make_session (self->options, cached, error);
  HeadspaceRun run = { .cached = cached };
  const gboolean ok =
      session && session_run (session, &limits, NULL, NULL, error) &&
      session->end != SESSION_INTERRUPTED && take_result (session, &run, error);

  if (ok)
    g_array_append_val (self->runs, run);
  g_clear_pointer (&session, session_free);
  return ok;
}

/* Runs all rounds. A round is one run of each variant in alternating order, so
 * that drift affects both. After Ctrl-C, the complete rounds count. */
static gboolean
measure_all (Headspace *self, Interrupt *interrupt, GError **error)
{
  const guint n = 2 * self->options->rounds;

  for (guint i = 0; i < n; i++) {
    const gboolean cached = (i % 2) ^ (i / 2 % 2);

    fprintf (stderr, "%u of %u: %s\n", i + 1, n,
        cached ? "from the cache" : "with loading");
    if (!measure_rate (self, cached, error) || interrupt_came (interrupt))
      break;
  }
  /* Drop an incomplete round. */
  g_array_set_size (self->runs, self->runs->len / 2 * 2);
  if (self->runs->len == 0 && !*error)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
        "interrupted in round 1 of %u, so there is no result", n / 2);
  return !*error;
}

static const HeadspaceRun *
get_run (const Headspace *self, guint i)
{
  return &g_array_index (self->runs, HeadspaceRun, i);
}

static const HeadspaceRun *
get_run_of (const Headspace *self, guint round, gboolean cached)
{
  const HeadspaceRun *run = get_run (self, 2 * round);

  return run->cached == cached ? run : get_run (self, 2 * round + 1);
}

/* Appends how much loading slows down the training step, by the medians. */
static void
append_contention (const Headspace *self, GString *text)
{
  const guint n = self->runs->len / 2;
  g_autofree double *base = g_new (double, n);
  g_autofree double *cached = g_new (double, n);
  Gains steps;

  for (guint i = 0; i < n; i++) {
    base[i] = get_run_of (self, i, FALSE)->p50_step / 1e9;
    cached[i] = get_run_of (self, i, TRUE)->p50_step / 1e9;
  }
  gains_init (&steps, base, cached, n);
  if (steps.base.median < SLOW_STEP * steps.cached.median)
    return;
  g_autofree gchar *slow = format_ns (steps.base.median * 1e9);
  g_autofree gchar *fast = format_ns (steps.cached.median * 1e9);
  g_string_append_printf (text,
      "; the step itself takes %s with loading and %s from the cache: loading "
      "slows the step down, in addition to the waiting",
      slow, fast);
}

static void
conclude_runs (Headspace *self)
{
  const guint n = self->runs->len / 2;
  g_autofree double *base = g_new (double, n);
  g_autofree double *cached = g_new (double, n);
  g_autofree gchar *sentence = NULL;
  GString *text;

  for (guint i = 0; i < n; i++) {
    base[i] = get_run_of (self, i, FALSE)->batch_time;
    cached[i] = get_run_of (self, i, TRUE)->batch_time;
  }
  gains_init (&self->gains, base, cached, n);
  sentence = gains_describe (&self->gains);
  text = g_string_new (sentence);
  append_contention (self, text);
  self->verdict = g_string_free (text, FALSE);
}

static void
print_run (FILE *out, const HeadspaceRun *run)
{
  g_autofree gchar *batch = format_ns (run->batch_time * 1e9);
  g_autofree gchar *step = format_ns (run->p50_step);
  g_autofree gchar *wait = format_ns (run->wait * 1e9);

  fprintf (out, "%-16s%10s%10s%10s%8.1f\n",
      run->cached ? "from the cache" : "with loading", batch, step, wait,
      run->cores);
}

static void
print_headspace (const Headspace *self)
{
  FILE *out = options_get_out (self->options);
  g_autofree gchar *verdict = text_wrap (self->verdict, screen_get_width (out));

  fprintf (
      out, "%-16s%10s%10s%10s%8s\n", "run", "batch", "step", "wait", "cores");
  for (guint i = 0; i < self->runs->len; i++)
    print_run (out, get_run (self, i));
  fprintf (out, "\n%s\n", verdict);
  fflush (out);
}

int
headspace_run (const Options *options, GError **error)
{
  Headspace self = { .options = options };
  Interrupt interrupt;
  int status = 1;

  if (!check_options (options, error))
    return 2;
  self.runs = g_array_new (FALSE, FALSE, sizeof (HeadspaceRun));
  interrupt_begin (&interrupt);
  if (measure_all (&self, &interrupt, error)) {
    conclude_runs (&self);
    print_headspace (&self);
    status = headspace_write_files (&self, error) ? 0 : 1;
  }
  interrupt_end (&interrupt);
  g_array_unref (self.runs);
  g_free (self.verdict);
  return status;
}
