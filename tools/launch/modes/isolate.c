/* gst-spdl-launch: measurement of a single stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/modes.h"

#include <gio/gio.h>
#include <gst/app/gstappsrc.h>
#include <math.h>
#include <stdio.h>

#include "tools/launch/modes/points.h"

#define DEFAULT_DURATION 2.0 /* s per run */
#define VALUES "1,2,4,8,16,32,64,128,256"

typedef struct {
  Series series;
  GPtrArray *samples; /* of GstSample: items or groups before the stage */
  guint n_fed;
  GMutex lock; /* while they are recorded */
  Session *session;
} Isolation;

static Part *
find_stage (Session *session, const gchar *name, GError **error)
{
  Part *part = setting_find_element (name, session->parts, error);

  if (!part || GST_IS_SPDL_STAGE (part->element))
    return part;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "%s is not a stage, because it has no property concurrency", name);
  return NULL;
}

/* Recording */

/* Lock held. */
static void
record_data (Isolation *self, GstPad *pad, GstPadProbeInfo *info)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstSample *sample;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list =
        gst_buffer_list_copy_deep (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

    sample = gst_sample_new (NULL, caps, NULL, NULL);
    gst_sample_set_buffer_list (sample, list);
    gst_buffer_list_unref (list);
  } else {
    GstBuffer *buffer = gst_buffer_copy_deep (GST_PAD_PROBE_INFO_BUFFER (info));

    sample = gst_sample_new (buffer, caps, NULL, NULL);
    gst_buffer_unref (buffer);
  }
  g_ptr_array_add (self->samples, sample);
}

/* Records data and drops it before it reaches the stage, with the ends after
 * which the sink would complain that nothing arrived. */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Isolation *self = user_data;
  const guint n_wanted = self->series.options->items;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
    const gboolean is_end = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    if (is_end)
      session_end (self->session);
    return is_end || gst_spdl_event_parse_epoch (event, NULL, NULL, NULL)
               ? GST_PAD_PROBE_DROP
               : GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&self->lock);
  if (self->samples->len < n_wanted) {
    record_data (self, pad, info);
    if (self->samples->len == n_wanted)
      session_end (self->session);
  }
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_DROP;
}

/* Runs the pipeline until enough items or groups have reached the stage. */
static gboolean
record_run (Isolation *self, GstElement *stage, GError **error)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (stage, "sink");
  const SessionLimits limits = { .max_failures = -1 };

  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST |
          GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_data, self, NULL);
  if (!session_run (self->session, &limits, NULL, NULL, error))
    return FALSE;
  if (self->session->end == SESSION_INTERRUPTED)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
        "interrupted before the items were recorded, so there is no result");
  else if (self->samples->len == 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "no item arrived at %s",
        GST_OBJECT_NAME (stage));
  return !*error;
}

/* Returns 0, or the exit status after an error. */
static int
record_items (Isolation *self, GError **error)
{
  const Options *options = self->series.options;
  int status = 2;
  Part *part;

  self->session = session_new (options->pipeline, options->settings, 0, error);
  if (!self->session)
    return status;
  if ((part = find_stage (self->session, options->isolate, error)))
    status = record_run (self, part->element, error) ? 0 : 1;
  g_clear_pointer (&self->session, session_free);
  return status;
}

/* Running the stage alone */

static void
feed (GstAppSrc *appsrc, guint length, gpointer user_data)
{
  Isolation *self = user_data;

  gst_app_src_push_sample (appsrc,
      g_ptr_array_index (self->samples, self->n_fed++ % self->samples->len));
}

/* Creates a session of an appsrc, the stage with the settings, and a
 * fakesink. */
static Session *
make_session (Series *series, gchar **settings, GError **error)
{
  const Options *options = series->options;
  Session *whole = session_new (options->pipeline, settings, 0, error);
  GstElement *pipeline, *stage, *appsrc, *sink;

  if (!whole)
    return NULL;
  pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  stage = find_stage (whole, options->isolate, NULL)->element;
  appsrc = gst_element_factory_make ("appsrc", NULL);
  sink = gst_element_factory_make ("fakesink", NULL);
  g_object_set (appsrc, "format", GST_FORMAT_TIME, NULL);
  g_signal_connect (appsrc, "need-data", G_CALLBACK (feed), series);
  g_object_set (sink, "sync", FALSE, NULL);
  gst_bin_remove (GST_BIN (GST_OBJECT_PARENT (stage)), stage);
  gst_bin_add_many (GST_BIN (pipeline), appsrc, stage, sink, NULL);
  gst_element_link_many (appsrc, stage, sink, NULL);
  session_free (whole);
  return session_new_for (pipeline, error);
}

static gchar *
describe_stage (const Snapshot *result)
{
  const GstStructure *stats = g_ptr_array_index (result->stages, 0);
  g_autofree gchar *ave = format_ns (stats_get (stats, "ave-time"));
  g_autofree gchar *p99 = format_ns (stats_get (stats, "p99-time"));

  return g_strdup_printf ("%8s %8s %3ld %% %3ld %%", ave, p99,
      lround (stats_get_computing (stats) * 100),
      lround (stats_get_busy (stats) * 100));
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
  g_autofree gchar *axis =
      g_strconcat (options->isolate, ".concurrency=" VALUES, NULL);
  Isolation self = { { .options = options,
                         .rises = TRUE,
                         .make = make_session,
                         .describe = describe_stage },
    g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref) };
  Series *series = &self.series;
  Conclusion conclusion = { .title = "One stage alone",
    .detail_title = " average      p99   CPU  busy" };
  int status;

  g_mutex_init (&self.lock);
  status = record_items (&self, error);
  if (status == 0) {
    fprintf (stderr, "%u items or groups recorded before %s\n",
        self.samples->len, options->isolate);
    series->axes = sweep_parse (axis, NULL);
    series_init (
        series, options->duration > 0 ? options->duration : DEFAULT_DURATION);
    conclusion.chosen = series_measure (series);
    conclusion.verdict = make_verdict (series->points, conclusion.chosen);
    status = conclude (options, series->points, &conclusion, error);
    g_free (conclusion.verdict);
    series_clear (series);
  }
  g_ptr_array_unref (self.samples);
  g_mutex_clear (&self.lock);
  return status;
}
