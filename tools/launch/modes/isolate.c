/* gst-spdl-launch: measurement of a single stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/showntext.h"
#include "tools/launch/modes/modes.h"

#include <gio/gio.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <math.h>
#include <stdio.h>

#include "gst/spdl/engine/newthread.h"
#include "tools/launch/modes/points.h"
#include "tools/launch/run/parts.h"
#include "tools/launch/run/pipeline.h"
#include "tools/launch/run/process.h"

/* Thread that pushes a recording to an appsrc in a loop. */
typedef struct _Feeder Feeder;

#define DEFAULT_DURATION 2.0 /* s per run */
#define WARM_UP 0.25         /* warm-up, relative to the duration */
#define MAX_CONCURRENCY 256
/* Measurement ends when doubling the concurrency twice increases the rate by
 * less than this factor. */
#define WORTH 1.05

/* Recording */

#define POLL (50 * GST_MSECOND)

typedef struct {
  GMutex lock;
  GPtrArray *samples;
  guint n_wanted;
  gboolean ended;
} Recorder;

static GstBufferList *
copy_list (GstBufferList *list)
{
  return gst_buffer_list_copy_deep (list);
}

/* Lock held. */
static void
record_buffer (Recorder *self, GstPad *pad, GstPadProbeInfo *info)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstSample *sample;

  if (self->samples->len >= self->n_wanted)
    return;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = copy_list (GST_PAD_PROBE_INFO_BUFFER_LIST (info));

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

/* Records data and drops it before it reaches the element. */
static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Recorder *self = user_data;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS) {
      g_mutex_lock (&self->lock);
      self->ended = TRUE;
      g_mutex_unlock (&self->lock);
    }
    return GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&self->lock);
  record_buffer (self, pad, info);
  g_mutex_unlock (&self->lock);
  return GST_PAD_PROBE_DROP;
}

static gboolean
is_done (Recorder *self)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  done = self->ended || self->samples->len >= self->n_wanted;
  g_mutex_unlock (&self->lock);
  return done;
}

static void
take_error (GstMessage *message, GError **error)
{
  GError *reason = NULL;

  gst_message_parse_error (message, &reason, NULL);
  spdl_show_error (reason); /* the error may be of any element */
  g_propagate_error (error, reason);
}

static gboolean
wait_until_done (Recorder *self, GstElement *pipeline, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  while (!is_done (self)) {
    g_autoptr (GstMessage) message =
        gst_bus_timed_pop_filtered (bus, POLL, GST_MESSAGE_ERROR);

    if (message) {
      take_error (message, error);
      return FALSE;
    }
  }
  return TRUE;
}

static GstPadProbeReturn
on_sink_data (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  return GST_PAD_PROBE_DROP;
}

static void
drop_at_sink (const GValue *item, gpointer user_data)
{
  g_autoptr (GstPad) pad =
      gst_element_get_static_pad (g_value_get_object (item), "sink");

  if (pad)
    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
        on_sink_data, NULL, NULL);
}

/* Drops what reaches the sinks, from which nobody pulls: a full one would block
 * the branch of the element. */
static void
drop_at_sinks (GstElement *pipeline)
{
  GstIterator *sinks = gst_bin_iterate_sinks (GST_BIN (pipeline));

  gst_iterator_foreach (sinks, drop_at_sink, NULL);
  gst_iterator_free (sinks);
}

/* Plays @pipeline. Returns FALSE with @error set if it does not start. */
static gboolean
play (GstElement *pipeline, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) !=
      GST_STATE_CHANGE_FAILURE)
    return TRUE;
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message)
    take_error (message, error);
  else
    pipeline_set_not_started (error);
  return FALSE;
}

/* Plays @pipeline until @n items or groups have reached @element. Returns
 * copies of them. (element-type GstSample) */
static GPtrArray *
recording_make (
    GstElement *pipeline, GstElement *element, guint n, GError **error)
{
  Recorder self = { .n_wanted = n };
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  gulong probe;
  gboolean ok;

  self.samples =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
  g_mutex_init (&self.lock);
  probe = gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST |
          GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_data, &self, NULL);
  drop_at_sinks (pipeline);
  ok = play (pipeline, error) && wait_until_done (&self, pipeline, error);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_pad_remove_probe (pad, probe);
  g_mutex_clear (&self.lock);
  if (ok && self.samples->len == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "no item arrived at %s",
        GST_OBJECT_NAME (element));
    ok = FALSE;
  }
  if (!ok)
    g_clear_pointer (&self.samples, g_ptr_array_unref);
  return self.samples;
}

/* Feeding */

struct _Feeder {
  GstAppSrc *appsrc;
  GPtrArray *samples;
  GThread *thread;
  gint stopped;
};

static gpointer
run_feeder (gpointer data)
{
  Feeder *self = data;

  for (guint i = 0; !g_atomic_int_get (&self->stopped); i++) {
    GstSample *sample =
        g_ptr_array_index (self->samples, i % self->samples->len);

    /* The appsrc is flushing before the pipeline plays and after it is
     * stopped. */
    if (gst_app_src_push_sample (self->appsrc, sample) != GST_FLOW_OK)
      g_usleep (1000);
  }
  return NULL;
}

/* Call it after the pipeline is stopped. */
static void
feeder_free (Feeder *self)
{
  g_atomic_int_set (&self->stopped, TRUE);
  if (self->thread)
    g_thread_join (self->thread);
  gst_object_unref (self->appsrc);
  g_ptr_array_unref (self->samples);
  g_free (self);
}

/* Returns NULL with @error set if its thread cannot be created. */
static Feeder *
feeder_new (GstElement *appsrc, GPtrArray *samples, GError **error)
{
  Feeder *self = g_new0 (Feeder, 1);

  self->appsrc = GST_APP_SRC (gst_object_ref (appsrc));
  self->samples = g_ptr_array_ref (samples);
  self->thread = spdl_thread_try_new (
      "feed", "the items of a stage", run_feeder, self, error);
  if (!self->thread)
    g_clear_pointer (&self, feeder_free);
  return self;
}

static Part *
find_stage (Session *session, const gchar *name, GError **error)
{
  Part *part = setting_find_element (name, session->parts, error);

  if (!part || part->is_stage)
    return part;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "%s is not a stage, because it has no property concurrency", name);
  return NULL;
}

/* Returns 0 with @samples set, or the exit status after an error. */
static int
record_items (const Options *options, GPtrArray **samples, GError **error)
{
  Session *session =
      session_new (options->pipeline, options->settings, 0, error);
  int status = 2;
  Part *part;

  if (!session)
    return status;
  if ((part = find_stage (session, options->isolate, error))) {
    *samples = recording_make (
        session->pipeline, part->element, options->items, error);
    status = *samples ? 0 : 1;
  }
  session_free (session);
  return status;
}

/* Creates a pipeline of an appsrc, the stage with the user's settings, and a
 * fakesink. */
static GstElement *
make_pipeline (const Options *options, guint concurrency, GstElement **appsrc)
{
  Session *session =
      session_new (options->pipeline, options->settings, 0, NULL);
  Part *part = find_stage (session, options->isolate, NULL);
  GstElement *stage = gst_object_ref (part->element);
  GstElement *pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  g_autoptr (GstObject) bin = gst_object_get_parent (GST_OBJECT (stage));

  gst_bin_remove (GST_BIN (bin), stage);
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
  const Snapshot *result = session->result;
  const GstStructure *stats = g_ptr_array_index (result->stages, 0);
  g_autofree gchar *ave = format_ns (stats_get (stats, "ave-time"));
  g_autofree gchar *p99 = format_ns (stats_get (stats, "p99-time"));

  point->rate = session_get_steady_rate (session);
  point->cores = result->cores;
  point->detail = g_strdup_printf ("%8s %8s %3ld %% %3ld %%", ave, p99,
      lround (stats_get_computing (stats) * 100),
      lround (stats_get_busy (stats) * 100));
}

/* Common data of all runs. */
typedef struct {
  const Options *options;
  GPtrArray *samples;
  Interrupt interrupt;
} Bench;

/* Returns FALSE after Ctrl-C. */
static gboolean
measure_point (Bench *self, Point *point)
{
  const Options *options = self->options;
  SessionLimits limits = options_get_limits (options, FALSE);
  g_autoptr (GError) error = NULL;
  GstElement *appsrc;
  Session *session =
      session_new_for (make_pipeline (options, point->cost, &appsrc));
  Feeder *feeder = feeder_new (appsrc, self->samples, &error);

  if (options->duration == 0)
    limits.duration = DEFAULT_DURATION * GST_SECOND;
  limits.warm_up = limits.duration * WARM_UP;
  limits.interval = GST_SECOND / 10;
  point->n_runs = 1;
  if (feeder && session_run (session, &limits, NULL, NULL, &error))
    take_result (session, point);
  else
    point->error = g_strdup (error->message);
  g_clear_pointer (&feeder, feeder_free);
  session_free (session);
  return !interrupt_came (&self->interrupt);
}

/* Returns whether the last two doublings had little effect. */
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
    if (!measure_point (self, point)) {
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

  fprintf (stderr, "repeating: %s\n", again->label);
  rate = measure_point (self, again) ? again->rate : -1;
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
  g_autoptr (GPtrArray) samples = NULL;
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func (point_free);
  g_autofree gchar *verdict = NULL;
  const int status = record_items (options, &samples, error);
  Bench bench = { options, samples };
  guint chosen = POINTS_NONE;

  if (status != 0)
    return status;
  fprintf (stderr, "%u items or groups recorded before %s\n", samples->len,
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
