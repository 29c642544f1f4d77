/* gst-spdl-launch: one run of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session.h"

#include "process.h"
#include "puller.h"
#include "setting.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <string.h>

#define MAX_FRAMES 1024
#define MAX_FAILURES_KEPT 100
/* After an error, what is in the queues still comes; this long without
 * anything, and nothing more does. */
#define QUIET_MS 500

struct _Session {
  gchar *description;
  GstElement *pipeline;
  GstElement *sink; /* nullable: a spdlsink */
  GPtrArray *parts;

  SessionLimits limits;
  const SessionFuncs *funcs;
  gpointer user_data;
  GMainLoop *loop;
  Puller *puller;
  SessionEnd end;
  GError *error;
  gint64 began; /* us */

  /* What was so at the last frame. */
  gint64 last_time;
  guint64 last_cpu;
  guint64 first_cpu;
  guint64 last_items, last_batches;
  guint64 last_pulled; /* batches, while waiting for quiet */

  guint64 n_failures;
  GPtrArray *failures;
  GPtrArray *frames;
  Frame *result;
  PullerCounts counts;
};

static void
finish (Session *self, SessionEnd end)
{
  if (self->end == SESSION_RUNS)
    self->end = end;
  if (self->loop)
    g_main_loop_quit (self->loop);
}

/* Frames */

static guint64
expected_items (Session *self)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    GObjectClass *klass = G_OBJECT_GET_CLASS (part->element);
    guint64 n = 0;
    gint64 epochs = 1;

    if (!g_object_class_find_property (klass, "num-items") ||
        !g_object_class_find_property (klass, "epochs"))
      continue;
    g_object_get (part->element, "num-items", &n, "epochs", &epochs, NULL);
    if (epochs < 0 || n == 0)
      return 0;
    sum += n * epochs;
  }
  return sum;
}

static void
add_stages (Session *self, Frame *frame)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    const GstStructure *stats =
        frame->lap && part->lap ? part->lap : part->total;

    if (!stats)
      continue;
    g_ptr_array_add (frame->stages, gst_structure_copy (stats));
  }
}

static void
sum_up_failures (Session *self, Frame *frame)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);

    if (!part->total)
      continue;
    frame->failures += stats_get (part->total, "num-failures");
    frame->filtered += stats_get (part->total, "num-filtered");
  }
}

/* What came out: pulled, or what the last element of ours counted. */
static void
count_output (Session *self, Frame *frame)
{
  if (self->sink && self->puller) {
    puller_get_counts (self->puller, &self->counts);
    frame->items = self->counts.items;
    frame->batches = self->counts.batches;
    return;
  }
  for (guint i = self->parts->len; i > 0; i--) {
    const Part *part = g_ptr_array_index (self->parts, i - 1);

    if (!part->total)
      continue;
    frame->items = stats_get (part->total, "num-items");
    frame->batches = stats_get (part->total, "num-batches");
    return;
  }
}

static void
diagnose (Session *self, Frame *frame, guint64 cpu_time)
{
  GList *stats = parts_dup_stats (self->parts, frame->lap);

  frame->diagnosis = gst_spdl_diagnose (stats, frame->num_cores, cpu_time);
  parts_free_stats (stats);
  if (!frame->lap ||
      gst_spdl_diagnosis_get_limit (frame->diagnosis) != GST_SPDL_LIMIT_TOO_FEW)
    return;
  /* All of the run may say more than a lap does. */
  gst_spdl_diagnosis_unref (frame->diagnosis);
  stats = parts_dup_stats (self->parts, FALSE);
  frame->diagnosis = gst_spdl_diagnose (
      stats, frame->num_cores, process_get_cpu_time () - self->first_cpu);
  parts_free_stats (stats);
}

static Frame *
take_frame (Session *self, gboolean lap)
{
  Frame *frame = frame_new ();
  const gint64 now = g_get_monotonic_time ();
  const guint64 cpu = process_get_cpu_time ();
  const gint64 since = lap ? self->last_time : self->began;
  const guint64 used = cpu - (lap ? self->last_cpu : self->first_cpu);

  parts_take_totals (self->parts);
  frame->lap = lap;
  frame->time = (now - self->began) / 1e6;
  frame->elapsed = MAX (now - since, 1) / 1e6;
  frame->cores = used / 1e9 / frame->elapsed;
  frame->num_cores = process_get_num_cores ();
  frame->memory = lap ? process_get_memory () : process_get_peak_memory ();
  frame->expected = expected_items (self);
  count_output (self, frame);
  sum_up_failures (self, frame);
  add_stages (self, frame);
  frame->item_rate =
      (frame->items - (lap ? self->last_items : 0)) / frame->elapsed;
  frame->batch_rate =
      (frame->batches - (lap ? self->last_batches : 0)) / frame->elapsed;
  diagnose (self, frame, used);
  self->last_time = now;
  self->last_cpu = cpu;
  self->last_items = frame->items;
  self->last_batches = frame->batches;
  return frame;
}

/* Leaves out every other frame: a long run is drawn with as many points. */
static void
thin_out (GPtrArray *frames)
{
  for (guint i = frames->len / 2; i > 0; i--)
    g_ptr_array_remove_index (frames, 2 * i - 1);
}

static gboolean
on_tick (gpointer data)
{
  Session *self = data;
  Frame *frame = take_frame (self, TRUE);

  if (self->frames->len >= MAX_FRAMES)
    thin_out (self->frames);
  g_ptr_array_add (self->frames, frame);
  if (self->funcs && self->funcs->frame)
    self->funcs->frame (self, frame, self->user_data);
  return G_SOURCE_CONTINUE;
}

/* What ends a run */

static gboolean
on_ended (gpointer data)
{
  Session *self = data;
  PullerCounts counts;

  puller_get_counts (self->puller, &counts);
  finish (self, self->error ? SESSION_FAILED
                : self->limits.max_batches > 0 &&
                        counts.batches >= self->limits.max_batches
                    ? SESSION_LIMITED
                    : SESSION_ENDED);
  return G_SOURCE_REMOVE;
}

static gboolean
on_duration (gpointer data)
{
  finish (data, SESSION_LIMITED);
  return G_SOURCE_CONTINUE;
}

/* GLib gives the signal back its default when the source is gone: a second
 * Ctrl-C ends the process at once. */
static gboolean
on_interrupt (gpointer data)
{
  finish (data, SESSION_INTERRUPTED);
  return G_SOURCE_REMOVE;
}

static gboolean
on_quiet (gpointer data)
{
  Session *self = data;
  PullerCounts counts;

  puller_get_counts (self->puller, &counts);
  if (counts.batches != self->last_pulled) {
    self->last_pulled = counts.batches;
    return G_SOURCE_CONTINUE;
  }
  finish (self, SESSION_FAILED);
  return G_SOURCE_REMOVE;
}

/* @error: (transfer full). The first one counts. */
static void
fail (Session *self, GError *error)
{
  if (self->error) {
    g_error_free (error);
    return;
  }
  self->error = error;
  g_timeout_add (QUIET_MS, on_quiet, self);
}

/* Messages */

static void
take_error (Session *self, GstMessage *message)
{
  g_autofree gchar *debug = NULL;
  GError *error = NULL;
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));

  gst_message_parse_error (message, &error, &debug);
  g_prefix_error (&error,
      "%s: ", part ? part->name : GST_OBJECT_NAME (GST_MESSAGE_SRC (message)));
  GST_INFO ("%s", debug);
  fail (self, error);
}

static void
take_failure (Session *self, const GstStructure *failure)
{
  self->n_failures++;
  if (self->failures->len < MAX_FAILURES_KEPT)
    g_ptr_array_add (self->failures, gst_structure_copy (failure));
  if (self->funcs && self->funcs->failure)
    self->funcs->failure (self, failure, self->user_data);
  if (self->limits.max_failures < 0 ||
      self->n_failures <= (guint64) self->limits.max_failures || self->error)
    return;

  GError *error = NULL;
  gst_structure_get (failure, "error", G_TYPE_ERROR, &error, NULL);
  fail (self, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED,
                  "%" G_GUINT64_FORMAT " items failed, and %" G_GINT64_FORMAT
                  " may; the last one in %s: %s: %s",
                  self->n_failures, self->limits.max_failures,
                  gst_structure_get_string (failure, "stage"),
                  gst_structure_get_string (failure, "uri"),
                  error ? error->message : ""));
  g_clear_error (&error);
  finish (self, SESSION_FAILED);
}

static void
take_element_message (Session *self, GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure (message);
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));
  gboolean lap = FALSE;

  if (!s || !part)
    return;
  if (gst_structure_has_name (s, "spdl-item-failed"))
    take_failure (self, s);
  else if (gst_structure_has_name (s, "spdl-stage-stats") &&
           gst_structure_get_boolean (s, "lap", &lap) && lap)
    part_take_lap (part, s);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Session *self = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      take_error (self, message);
      break;
    case GST_MESSAGE_ELEMENT:
      take_element_message (self, message);
      break;
    case GST_MESSAGE_EOS:
      if (!self->sink)
        finish (self, self->error ? SESSION_FAILED : SESSION_ENDED);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* Making and running one */

static GstElement *
parse (gchar **description, GError **error)
{
  GstElement *pipeline =
      description[0] && !description[1]
          ? gst_parse_launch_full (
                description[0], NULL, GST_PARSE_FLAG_FATAL_ERRORS, error)
          : gst_parse_launchv_full ((const gchar **) description, NULL,
                GST_PARSE_FLAG_FATAL_ERRORS, error);

  if (pipeline && !GST_IS_PIPELINE (pipeline)) {
    GstElement *bin = gst_pipeline_new (NULL);

    gst_bin_add (GST_BIN (bin), pipeline);
    pipeline = bin;
  }
  return pipeline ? gst_object_ref_sink (pipeline) : NULL;
}

/* The last spdlsink. */
static GstElement *
find_sink (GPtrArray *parts)
{
  for (guint i = parts->len; i > 0; i--) {
    const Part *part = g_ptr_array_index (parts, i - 1);
    GstElementFactory *factory = gst_element_get_factory (part->element);

    if (factory && g_str_equal (GST_OBJECT_NAME (factory), "spdlsink"))
      return gst_object_ref (part->element);
  }
  return NULL;
}

Session *
session_new_for (GstElement *pipeline)
{
  Session *self = g_new0 (Session, 1);

  self->pipeline = pipeline;
  self->parts = parts_new (pipeline);
  self->sink = find_sink (self->parts);
  self->failures =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  self->frames = g_ptr_array_new_with_free_func (frame_free);
  self->description = g_strdup ("");
  return self;
}

Session *
session_new (gchar **description, gchar **settings, GError **error)
{
  GstElement *pipeline = parse (description, error);
  Session *self;

  if (!pipeline)
    return NULL;
  self = session_new_for (pipeline);
  g_free (self->description);
  self->description = g_strjoinv (" ", description);
  for (guint i = 0; settings && settings[i]; i++) {
    if (!setting_apply (settings[i], self->parts, error)) {
      session_free (self);
      return NULL;
    }
  }
  return self;
}

void
session_free (Session *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  g_clear_pointer (&self->result, frame_free);
  g_clear_error (&self->error);
  g_ptr_array_unref (self->frames);
  g_ptr_array_unref (self->failures);
  g_ptr_array_unref (self->parts);
  gst_clear_object (&self->sink);
  gst_object_unref (self->pipeline);
  g_free (self->description);
  g_free (self);
}

static void
begin (Session *self)
{
  parts_set_interval (self->parts, self->limits.interval);
  self->began = self->last_time = g_get_monotonic_time ();
  self->first_cpu = self->last_cpu = process_get_cpu_time ();
  self->puller =
      puller_start (self->pipeline, self->sink, self->limits.max_batches,
          self->limits.step, self->limits.warm_up, on_ended, self);
}

/* The figures are taken while all is as it was. */
static void
stop (Session *self)
{
  puller_stop (self->puller);
  self->result = take_frame (self, FALSE);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  puller_free (self->puller);
  self->puller = NULL;
}

static void
take_last_messages (Session *self, GstBus *bus)
{
  for (GstMessage *message; (message = gst_bus_pop (bus));) {
    on_message (bus, message, self);
    gst_message_unref (message);
  }
}

static void
remove_sources (guint *ids, guint n)
{
  for (guint i = 0; i < n; i++)
    if (ids[i] != 0 && g_main_context_find_source_by_id (NULL, ids[i]))
      g_source_remove (ids[i]);
}

gboolean
session_run (Session *self, const SessionLimits *limits,
    const SessionFuncs *funcs, gpointer user_data, GError **error)
{
  GstBus *bus = gst_element_get_bus (self->pipeline);
  guint ids[4] = { 0 };

  self->limits = *limits;
  self->funcs = funcs;
  self->user_data = user_data;
  self->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, on_message, self);
  ids[0] = g_unix_signal_add (SIGINT, on_interrupt, self);
  ids[1] = g_unix_signal_add (SIGTERM, on_interrupt, self);
  if (limits->interval > 0)
    ids[2] = g_timeout_add (limits->interval / 1000000, on_tick, self);
  if (limits->duration > 0)
    ids[3] = g_timeout_add (limits->duration / 1000000, on_duration, self);

  begin (self);
  g_main_loop_run (self->loop);
  remove_sources (ids, G_N_ELEMENTS (ids));
  stop (self);
  gst_bus_remove_watch (bus);
  take_last_messages (self, bus);
  while (g_source_remove_by_user_data (self))
    ;
  gst_object_unref (bus);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  if (self->error && self->end != SESSION_INTERRUPTED)
    self->end = SESSION_FAILED;
  if (self->end == SESSION_FAILED && error)
    *error = g_error_copy (self->error);
  return self->end != SESSION_FAILED;
}

SessionEnd
session_get_end (Session *self)
{
  return self->end;
}

GPtrArray *
session_get_parts (Session *self)
{
  return self->parts;
}

GPtrArray *
session_get_frames (Session *self)
{
  return self->frames;
}

Frame *
session_take_totals (Session *self, const Frame *lap)
{
  Frame *frame = frame_new ();
  GPtrArray *stages = frame->stages;

  *frame = *lap;
  frame->lap = FALSE;
  frame->stages = stages;
  gst_spdl_diagnosis_ref (frame->diagnosis);
  add_stages (self, frame);
  return frame;
}

const Frame *
session_get_result (Session *self)
{
  return self->result;
}

GPtrArray *
session_get_failures (Session *self)
{
  return self->failures;
}

/* From the first frame after the warm-up to the end. */
static double
steady_rate_of_frames (Session *self)
{
  const Frame *end = self->result;

  for (guint i = 0; i < self->frames->len; i++) {
    const Frame *frame = g_ptr_array_index (self->frames, i);

    if (frame->time >= self->limits.warm_up / 1e9 && end->time > frame->time)
      return (end->items - frame->items) / (end->time - frame->time);
  }
  return end->item_rate;
}

double
session_get_steady_rate (Session *self)
{
  const PullerCounts *c = &self->counts;

  if (!self->sink)
    return steady_rate_of_frames (self);
  if (c->steady_since == 0 || c->last <= c->steady_since)
    return self->result->item_rate;
  return (c->items - c->steady_items) * 1e6 / (c->last - c->steady_since);
}

const gchar *
session_get_description (Session *self)
{
  return self->description;
}

GstElement *
session_get_pipeline (Session *self)
{
  return self->pipeline;
}
