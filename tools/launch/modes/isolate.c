/* gst-spdl-launch: one stage alone
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/isolate.h"

#include "tools/launch/modes/conclude.h"
#include "tools/launch/run/interrupt.h"
#include "tools/launch/run/recording.h"
#include "tools/launch/run/setting.h"

#include <gio/gio.h>
#include <math.h>
#include <stdio.h>

#define DEFAULT_DURATION 2.0 /* s of each run */
#define WARM_UP 0.25         /* of it */
#define MAX_CONCURRENCY 256
/* A doubling that brings less than that, twice, is the end. */
#define WORTH 1.05

static Part *
find_stage (Session *session, const gchar *name, GError **error)
{
  Part *part = setting_find_element (name, session_get_parts (session), error);

  if (!part || part->is_stage)
    return part;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "%s is no stage: it has no concurrency", name);
  return NULL;
}

static GPtrArray *
record (const Options *options, GError **error)
{
  Session *session = session_new (options->pipeline, options->settings, error);
  GPtrArray *samples = NULL;
  Part *part;

  if (!session)
    return NULL;
  if ((part = find_stage (session, options->isolate, error)))
    samples = recording_make (
        session_get_pipeline (session), part->element, options->items, error);
  session_free (session);
  return samples;
}

/* A pipeline of an appsrc, the stage as the user set it, and a fakesink. */
static GstElement *
make_pipeline (const Options *options, guint concurrency, GstElement **appsrc)
{
  Session *session = session_new (options->pipeline, options->settings, NULL);
  Part *part = find_stage (session, options->isolate, NULL);
  GstElement *stage = gst_object_ref (part->element);
  GstElement *pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);

  gst_bin_remove (GST_BIN (session_get_pipeline (session)), stage);
  *appsrc = gst_element_factory_make ("appsrc", NULL);
  g_object_set (*appsrc, "format", GST_FORMAT_TIME, "block", TRUE,
      "max-buffers", (guint64) 16, "max-bytes", (guint64) 0, NULL);
  g_object_set (sink, "sync", FALSE, NULL);
  g_object_set (stage, "concurrency", concurrency, NULL);
  gst_bin_add_many (GST_BIN (pipeline), *appsrc, stage, sink, NULL);
  gst_element_link_many (*appsrc, stage, sink, NULL);
  gst_object_unref (stage);
  session_free (session);
  return pipeline;
}

static void
take_result (Session *session, Point *point)
{
  const Frame *result = session_get_result (session);
  const GstStructure *stats = g_ptr_array_index (result->stages, 0);
  g_autofree gchar *ave = format_ns (stats_get (stats, "ave-time"));
  g_autofree gchar *p99 = format_ns (stats_get (stats, "p99-time"));

  point->rate = session_get_steady_rate (session);
  point->cores = result->cores;
  point->detail = g_strdup_printf ("%8s %8s %3ld %% %3ld %%", ave, p99,
      lround (stats_get_computing (stats) * 100),
      lround (stats_get_busy (stats) * 100));
}

/* What all runs have in common. */
typedef struct {
  const Options *options;
  GPtrArray *samples;
  Interrupt interrupt;
} Bench;

/* Returns FALSE after Ctrl-C. */
static gboolean
measure (Bench *self, Point *point)
{
  const Options *options = self->options;
  SessionLimits limits = options_get_limits (options, FALSE);
  g_autoptr (GError) error = NULL;
  GstElement *appsrc;
  Session *session =
      session_new_for (make_pipeline (options, point->cost, &appsrc));
  Feeder *feeder = feeder_new (appsrc, self->samples);

  if (options->duration == 0)
    limits.duration = DEFAULT_DURATION * GST_SECOND;
  limits.warm_up = limits.duration * WARM_UP;
  limits.interval = GST_SECOND / 10;
  point->n_runs = 1;
  if (session_run (session, &limits, NULL, NULL, &error))
    take_result (session, point);
  else
    point->error = g_strdup (error->message);
  feeder_free (feeder);
  session_free (session);
  return !interrupt_came (&self->interrupt);
}

/* Whether the last two doublings brought little. */
static gboolean
levels_off (GPtrArray *points)
{
  const guint n = points->len;

  if (n < 3)
    return FALSE;
  const Point *a = g_ptr_array_index (points, n - 3);
  const Point *b = g_ptr_array_index (points, n - 2);
  const Point *c = g_ptr_array_index (points, n - 1);
  return b->rate < WORTH * a->rate && c->rate < WORTH * b->rate;
}

static Point *
make_point (const Options *options, guint concurrency)
{
  Point *point = g_new0 (Point, 1);

  point->label =
      g_strdup_printf ("%s.concurrency=%u", options->isolate, concurrency);
  point->settings = g_strsplit (point->label, "\n", -1);
  point->cost = concurrency;
  return point;
}

/* Returns FALSE after Ctrl-C. */
static gboolean
measure_all (Bench *self, GPtrArray *points)
{
  for (guint c = 1; c <= MAX_CONCURRENCY && !levels_off (points); c *= 2) {
    Point *point = make_point (self->options, c);

    fprintf (stderr, "%s\n", point->label);
    if (!measure (self, point)) {
      point_free (point);
      return FALSE;
    }
    g_ptr_array_add (points, point);
    if (point->error)
      break;
  }
  return TRUE;
}

static double
measure_again (guint k, gpointer user_data)
{
  Bench *self = user_data;
  Point *again = make_point (self->options, 1u << k);
  double rate;

  fprintf (stderr, "once more: %s\n", again->label);
  rate = measure (self, again) ? again->rate : -1;
  point_free (again);
  return rate;
}

static gchar *
make_verdict (GPtrArray *points, guint chosen)
{
  const guint best = points_best (points);
  GString *text = g_string_new (NULL);

  if (best == POINTS_NONE)
    return g_string_free (
        g_string_append (text, "the stage did not run"), FALSE);
  const Point *fastest = g_ptr_array_index (points, best);
  g_autofree gchar *rate = format_rate (fastest->rate);
  g_string_append_printf (text, "alone it reaches %s items/s", rate);
  points_append_knee (text, points);
  if (chosen != POINTS_NONE)
    g_string_append_printf (text,
        "; the cheapest within 3 %% of that, measured twice, is %s",
        ((const Point *) g_ptr_array_index (points, chosen))->label);
  return g_string_free (text, FALSE);
}

int
isolate_run (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) samples = record (options, error);
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func (point_free);
  g_autofree gchar *verdict = NULL;
  Bench bench = { options, samples };
  guint chosen = POINTS_NONE;

  if (!samples)
    return 2;
  fprintf (stderr, "%u items or groups recorded in front of %s\n", samples->len,
      options->isolate);
  interrupt_begin (&bench.interrupt);
  if (measure_all (&bench, points))
    chosen = points_confirm (points, measure_again, &bench);
  interrupt_end (&bench.interrupt);
  verdict = make_verdict (points, chosen);
  return conclude (options, points,
      &(Conclusion){
          "One stage alone", " average      p99   CPU  busy", verdict, chosen },
      error);
}
