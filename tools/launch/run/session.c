/* gst-spdl-launch: one run of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/session.h"

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/stage/droppeditems.h"
#include "tools/launch/run/intervals.h"
#include "tools/launch/run/pipeline.h"
#include "tools/launch/run/process.h"
#include "tools/launch/run/puller.h"

#include <gio/gio.h>
#include <glib-unix.h>

#define MAX_FAILURES_KEPT 100
#define MAX_TUNING_KEPT 100
/* Time without a batch after which a failed run ends: batches that are still in
 * queues are pulled until then. */
#define QUIET_MS 500
/* Time after which it ends in any case: another source may go on. */
#define DRAIN_TIME (5 * G_TIME_SPAN_SECOND)

struct _Session {
  gchar *description;
  GstElement *pipeline;
  GstElement *sink; /* nullable: an spdlsink */
  GPtrArray *parts;

  SessionLimits limits;
  const SessionFuncs *funcs;
  gpointer user_data;
  GMainLoop *loop;
  Puller *puller;
  SessionEnd end;
  GError *error;
  gint64 failed;       /* monotonic time of the error, us */
  guint64 last_pulled; /* number of batches at the last check */

  guint64 n_failures;
  GPtrArray *failures;
  GPtrArray *tuning;
  GstSpdlGovernor *governor; /* nullable */
  gint64 began;              /* monotonic time, us */
  GstSpdlThreadTimes threads;
  Intervals *intervals;
  Snapshot *result;
  PullerCounts counts;
  gchar *state; /* nullable: after the last batch */
};

static void
finish_session (Session *self, SessionEnd end)
{
  if (self->end == SESSION_RUNS)
    self->end = end;
  if (self->loop)
    g_main_loop_quit (self->loop);
}

/* Returns the pulled totals, or NULL if there is no sink to pull from. */
static const PullerCounts *
get_counts (Session *self)
{
  if (!self->sink)
    return NULL;
  if (self->puller)
    puller_get_counts (self->puller, &self->counts);
  return &self->counts;
}

static gboolean
on_tick (gpointer data)
{
  Session *self = data;
  const Snapshot *snapshot = intervals_add (self->intervals, get_counts (self));

  if (self->funcs && self->funcs->snapshot)
    self->funcs->snapshot (self, snapshot, self->user_data);
  return G_SOURCE_CONTINUE;
}

/* End of a run */

static gboolean
on_ended (gpointer data)
{
  Session *self = data;

  /* Messages have been handled before. */
  if (!self->error && puller_has_failed (self->puller))
    pipeline_set_not_started (&self->error);
  finish_session (self, self->error                     ? SESSION_FAILED
                        : puller_is_done (self->puller) ? SESSION_LIMITED
                                                        : SESSION_ENDED);
  return G_SOURCE_REMOVE;
}

static gboolean
on_duration (gpointer data)
{
  finish_session (data, SESSION_LIMITED);
  return G_SOURCE_CONTINUE;
}

/* GLib restores the default action when the source is removed, so a second
 * Ctrl-C terminates the process. */
static gboolean
on_interrupt (gpointer data)
{
  Session *self = data;

  finish_session (self, self->error ? SESSION_FAILED : SESSION_INTERRUPTED);
  return G_SOURCE_REMOVE;
}

static gboolean
on_quiet (gpointer data)
{
  Session *self = data;
  PullerCounts counts;

  puller_get_counts (self->puller, &counts);
  if (counts.batches != self->last_pulled &&
      g_get_monotonic_time () < self->failed + DRAIN_TIME) {
    self->last_pulled = counts.batches;
    return G_SOURCE_CONTINUE;
  }
  finish_session (self, SESSION_FAILED);
  return G_SOURCE_REMOVE;
}

/* Ends the run with @error (transfer full). Only the first error is kept. */
static void
fail_session (Session *self, GError *error)
{
  if (self->error) {
    g_error_free (error);
    return;
  }
  self->error = error;
  self->failed = g_get_monotonic_time ();
  g_timeout_add (QUIET_MS + self->limits.step / 1000000, on_quiet, self);
}

/* Messages */

static void
take_error (Session *self, GstMessage *message)
{
  g_autofree gchar *debug = NULL;
  GError *error = NULL;
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));

  gst_message_parse_error (message, &error, &debug);
  spdl_show_error (error); /* the error may be of any element */
  g_prefix_error (&error,
      "%s: ", part ? part->name : GST_OBJECT_NAME (GST_MESSAGE_SRC (message)));
  SPDL_INFO ("%s", debug);
  fail_session (self, error);
}

/* Returns whether the warning is about a single failed item, which has a
 * separate message. */
static gboolean
is_of_one_item (GstMessage *message)
{
  const GstStructure *details = NULL;
  gboolean summary = FALSE;

  gst_message_parse_warning_details (message, &details);
  return details && gst_structure_has_name (details, "spdl-items-failed") &&
         !(gst_structure_get_boolean (details, "summary", &summary) && summary);
}

static void
take_warning (Session *self, GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));

  if (is_of_one_item (message))
    return;
  gst_message_parse_warning (message, &error, NULL);
  spdl_show_error (error);
  if (self->funcs && self->funcs->warning)
    self->funcs->warning (self,
        part ? part->name : GST_OBJECT_NAME (GST_MESSAGE_SRC (message)),
        error->message, self->user_data);
}

gchar *
failure_format (const GstStructure *failure)
{
  const gchar *uri = gst_structure_get_string (failure, "uri");
  g_autofree gchar *name = spdl_show_line (uri);
  g_autofree gchar *reason = failure_dup_reason (failure);

  return g_strconcat (name, uri ? ": " : "", reason, NULL);
}

gchar *
failure_dup_reason (const GstStructure *failure)
{
  g_autoptr (GError) error = NULL;

  gst_structure_get (failure, "error", G_TYPE_ERROR, &error, NULL);
  return spdl_show_text (error ? error->message : "failed");
}

/* @failure: structure with the display name of the stage */
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

  g_autofree gchar *text = failure_format (failure);
  fail_session (
      self, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED,
                "%" G_GUINT64_FORMAT
                " items failed, but --max-failures is %" G_GINT64_FORMAT
                "; the last one in %s: %s",
                self->n_failures, self->limits.max_failures,
                gst_structure_get_string (failure, "stage"), text));
  finish_session (self, SESSION_FAILED);
}

static void
take_tuning (Session *self, GstStructure *decision)
{
  gst_structure_set (decision, "time", G_TYPE_DOUBLE,
      (g_get_monotonic_time () - self->began) / 1e6, NULL);
  if (self->funcs && self->funcs->tuning)
    self->funcs->tuning (self, decision, self->user_data);
  if (self->tuning->len < MAX_TUNING_KEPT)
    g_ptr_array_add (self->tuning, decision);
  else
    gst_structure_free (decision);
}

static void
take_element_message (Session *self, GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure (message);
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));
  gboolean interval = FALSE;

  if (!s || !part)
    return;
  if (gst_structure_has_name (s, "spdl-item-failed")) {
    GstStructure *failure = part_copy_structure (part, s);

    take_failure (self, failure);
    gst_structure_free (failure);
  } else if (gst_structure_has_name (s, "spdl-tuning")) {
    take_tuning (self, part_copy_structure (part, s));
  } else if (gst_structure_has_name (s, "spdl-stage-stats") &&
             gst_structure_get_boolean (s, "interval", &interval) && interval) {
    part_take_interval (part, s);
  }
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Session *self = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      take_error (self, message);
      break;
    case GST_MESSAGE_WARNING:
      take_warning (self, message);
      break;
    case GST_MESSAGE_ELEMENT:
      take_element_message (self, message);
      break;
    case GST_MESSAGE_EOS:
      if (!self->sink)
        finish_session (self, self->error ? SESSION_FAILED : SESSION_ENDED);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* Called in the thread that posts @message. */
static GstBusSyncReply
on_sync_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Session *self = data;

  gst_spdl_thread_times_take_message (&self->threads, message);
  return GST_BUS_PASS;
}

/* Construction and execution */

Session *
session_new_for (GstElement *pipeline)
{
  Session *self = g_new0 (Session, 1);

  self->pipeline = pipeline;
  self->parts = parts_new (pipeline);
  gst_spdl_thread_times_init (&self->threads);
  self->intervals = intervals_new (self->parts, &self->threads);
  self->failures =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  self->tuning =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  self->description = g_strdup ("");
  return self;
}

static gboolean
apply_all (Session *self, gchar **settings, GError **error)
{
  for (guint i = 0; settings && settings[i]; i++)
    if (!setting_apply (settings[i], self->parts, error))
      return FALSE;
  return TRUE;
}

Session *
session_new (gchar **description, gchar **settings, GError **error)
{
  return session_new_cached (description, settings, 0, error);
}

Session *
session_new_cached (
    gchar **description, gchar **settings, guint n_batches, GError **error)
{
  GstElement *pipeline = pipeline_new (description, error);
  Session *self;

  if (pipeline && n_batches > 0 &&
      !pipeline_insert_cache (pipeline, n_batches, error))
    gst_clear_object (&pipeline);
  if (!pipeline)
    return NULL;
  self = session_new_for (pipeline);
  g_free (self->description);
  self->description = pipeline_describe (description);
  if (!pipeline_find_sink (self->parts, &self->sink, error) ||
      !apply_all (self, settings, error))
    g_clear_pointer (&self, session_free);
  return self;
}

void
session_free (Session *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  g_clear_pointer (&self->result, snapshot_free);
  g_clear_error (&self->error);
  intervals_free (self->intervals);
  gst_spdl_thread_times_clear (&self->threads);
  g_ptr_array_unref (self->failures);
  g_ptr_array_unref (self->tuning);
  g_ptr_array_unref (self->parts);
  gst_clear_object (&self->sink);
  gst_object_unref (self->pipeline);
  g_free (self->description);
  g_free (self->state);
  g_free (self);
}

static void
begin_budget (Session *self)
{
  g_autoptr (GError) error = NULL;

  self->governor =
      gst_spdl_governor_new (GST_BIN (self->pipeline), self->limits.cpu_budget);
  /* The process has no other work, so its whole CPU time counts. */
  gst_spdl_governor_set_clock (self->governor, process_get_cpu_time);
  if (!gst_spdl_governor_start (self->governor, &error))
    gst_spdl_post_error (self->pipeline, error);
  /* The governor sees only this process. */
  parts_set_budget (self->parts, self->limits.cpu_budget);
}

static void
begin_session (Session *self)
{
  self->began = g_get_monotonic_time ();
  parts_set_interval (self->parts, self->limits.interval);
  intervals_begin (
      self->intervals, self->limits.max_batches, self->limits.duration);
  if (self->sink)
    parts_find_element (self->parts, GST_OBJECT (self->sink))->given_step =
        self->limits.step;
  if (self->limits.cpu_budget > 0)
    begin_budget (self);
  self->puller =
      puller_start (self->pipeline, self->sink, &self->limits, on_ended, self);
}

/* Collects the statistics before the pipeline is stopped. */
static void
stop_session (Session *self)
{
  puller_stop (self->puller);
  self->result = intervals_sum_up (self->intervals, get_counts (self));
  if (self->sink)
    g_object_get (self->sink, "resume-state", &self->state, NULL);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  g_clear_pointer (&self->governor, gst_spdl_governor_free);
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
session_check_limits (
    Session *self, const SessionLimits *limits, GError **error)
{
  if (self->sink ||
      (limits->max_batches == 0 && limits->step == 0 && !limits->digest))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "--%s needs a pipeline that ends in an spdlsink, from which batches are "
      "pulled",
      limits->max_batches > 0 ? "batches"
      : limits->step > 0      ? "step"
                              : "digest");
  return FALSE;
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
  gst_bus_set_sync_handler (bus, on_sync_message, self, NULL);
  gst_bus_add_watch (bus, on_message, self);
  ids[0] = g_unix_signal_add (SIGINT, on_interrupt, self);
  ids[1] = g_unix_signal_add (SIGTERM, on_interrupt, self);
  if (limits->interval > 0)
    ids[2] = g_timeout_add (limits->interval / 1000000, on_tick, self);
  if (limits->duration > 0)
    ids[3] = g_timeout_add (limits->duration / 1000000, on_duration, self);

  begin_session (self);
  g_main_loop_run (self->loop);
  remove_sources (ids, G_N_ELEMENTS (ids));
  stop_session (self);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
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
session_get_snapshots (Session *self)
{
  return intervals_get_snapshots (self->intervals);
}

Snapshot *
session_dup_totals (Session *self, const Snapshot *interval)
{
  return intervals_dup_totals (self->intervals, interval);
}

const Snapshot *
session_get_result (Session *self)
{
  return self->result;
}

GPtrArray *
session_get_failures (Session *self)
{
  return self->failures;
}

GPtrArray *
session_get_tuning (Session *self)
{
  return self->tuning;
}

double
session_get_steady_rate (Session *self)
{
  const PullerCounts *c = &self->counts;

  if (!self->sink)
    return intervals_get_steady_rate (
        self->intervals, self->limits.warm_up, self->result);
  if (c->steady_since == 0 || c->last <= c->steady_since)
    return self->result->item_rate;
  return (c->items - c->steady_items) * 1e6 / (c->last - c->steady_since);
}

double
session_get_batch_time (Session *self, double *wait)
{
  const PullerCounts *c = &self->counts;
  const double n = c->batches - c->steady_batches;

  *wait = 0;
  if (c->steady_since == 0 || n == 0)
    return 0;
  *wait = c->waited / 1e6 / n;
  return (c->last - c->steady_since) / 1e6 / n;
}

const gchar *
session_get_state (Session *self)
{
  return self->state;
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
