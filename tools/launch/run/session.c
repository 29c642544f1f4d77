/* gst-spdl-launch: one run of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/session.h"

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/loader/loader-private.h"
#include "tools/launch/run/itemdigest.h"
#include "tools/launch/run/pipeline.h"
#include "tools/launch/run/process.h"

#include <gio/gio.h>
#include <glib-unix.h>

#define MAX_FAILURES_KEPT 100
#define MAX_TUNING_KEPT 100
#define MAX_SNAPSHOTS 1024
/* Time after which a failed run ends although an element still holds items,
 * which it may never give out. */
#define DRAIN_S 5

static void
finish_session (Session *self, SessionEnd end)
{
  if (self->end == SESSION_RUNS)
    self->end = end;
  if (self->loop)
    g_main_loop_quit (self->loop);
}

/* Pulling
 *
 * A thread starts the pipeline and takes its batches like a training loop.
 * Blocking calls in it do not keep the main loop from handling signals. */

/* Lock held. Returns whether a limit was reached. */
static gboolean
is_enough (Session *self)
{
  const SessionLimits *limits = &self->limits;
  const Counts *counts = &self->counts;

  if (limits->max_batches > 0 && counts->batches >= limits->max_batches)
    return TRUE;
  return limits->steady > 0 && counts->steady_since > 0 &&
         counts->last - counts->steady_since >=
             (gint64) (limits->steady / 1000);
}

/* Counts a batch. Returns whether to continue. */
static gboolean
count_batch (Session *self, GstSpdlBatch *batch, gint64 asked)
{
  const GstSpdlBatchMeta *meta =
      gst_spdl_buffer_get_batch_meta (gst_spdl_batch_get_buffer (batch));
  Counts *counts = &self->counts;
  gboolean go_on;

  g_mutex_lock (&self->lock);
  counts->last = g_get_monotonic_time ();
  counts->batches++;
  counts->items += meta ? meta->num_items : 1;
  if (counts->steady_since > 0)
    counts->waited += counts->last - asked;
  if (counts->steady_since == 0 && counts->last >= self->steady_from &&
      counts->batches > self->limits.skip_batches) {
    counts->steady_since = counts->last;
    counts->steady_items = counts->items;
    counts->steady_batches = counts->batches;
  }
  go_on = !self->stopped && !is_enough (self);
  g_mutex_unlock (&self->lock);
  return go_on;
}

/* Waits for the duration of a training step, or until stopped. */
static void
pause_for_step (Session *self)
{
  const gint64 end = g_get_monotonic_time () + self->limits.step / 1000;

  g_mutex_lock (&self->lock);
  while (!self->stopped && g_cond_wait_until (&self->cond, &self->lock, end))
    ;
  g_mutex_unlock (&self->lock);
}

static void
pull_all (Session *self)
{
  gint64 asked = g_get_monotonic_time ();
  gboolean go_on = TRUE;

  while (go_on) {
    GstSpdlBatch *batch = gst_spdl_loader_next (
        self->loader, GST_CLOCK_TIME_NONE, &self->problem);

    if (!batch) { /* the end of an epoch, or of all */
      go_on = !self->problem && !gst_spdl_loader_is_finished (self->loader);
      continue;
    }
    go_on = count_batch (self, batch, asked);
    if (self->limits.digest && !digest_add (self->limits.digest, batch))
      go_on = FALSE;
    gst_spdl_batch_unref (batch);
    if (go_on && self->limits.step > 0)
      pause_for_step (self);
    asked = g_get_monotonic_time ();
  }
}

static gboolean on_message (GstBus *bus, GstMessage *message, gpointer data);

/* Handles the messages up to the error of an element, which the loader may know
 * before its message is on the bus. */
static void
wait_for_error (Session *self)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  GstMessage *message;

  while (!self->error && (message = gst_bus_timed_pop (bus, GST_SECOND))) {
    on_message (bus, message, self);
    gst_message_unref (message);
  }
}

/* Called in the main loop. Messages have been handled before. */
static gboolean
on_ended (gpointer data)
{
  Session *self = data;
  gboolean enough;

  if (self->problem && self->problem->domain != GST_SPDL_LOADER_ERROR)
    wait_for_error (self);
  if (!self->error && self->problem) {
    if (g_error_matches (
            self->problem, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FAILED))
      pipeline_set_not_started (&self->error);
    else
      self->error = g_error_copy (self->problem);
  }
  g_mutex_lock (&self->lock);
  enough = is_enough (self);
  g_mutex_unlock (&self->lock);
  finish_session (self, self->error ? SESSION_FAILED
                        : enough    ? SESSION_LIMITED
                                    : SESSION_ENDED);
  return G_SOURCE_REMOVE;
}

static gpointer
run_loader (gpointer data)
{
  Session *self = data;

  if (gst_spdl_loader_start (self->loader, &self->problem))
    pull_all (self);
  g_idle_add (on_ended, self);
  g_mutex_lock (&self->lock);
  self->done = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  return NULL;
}

static void
start_pulling (Session *self)
{
  g_autoptr (GError) problem = NULL;

  self->steady_from = g_get_monotonic_time () + self->limits.warm_up / 1000;
  self->thread = spdl_thread_try_new (
      "pull", "the batches of the pipeline", run_loader, self, &problem);
  if (self->thread)
    return;
  gst_spdl_post_error (self->pipeline, problem);
  self->done = TRUE;
  g_idle_add (on_ended, self);
}

/* Stops the pipeline, and the thread. */
static void
stop_pulling (Session *self)
{
  gboolean done;

  do {
    /* Again, if the thread was just about to start the pipeline. */
    gst_spdl_loader_stop (self->loader);
    g_mutex_lock (&self->lock);
    if (!self->done)
      g_cond_wait_until (
          &self->cond, &self->lock, g_get_monotonic_time () + 10000);
    done = self->done;
    g_mutex_unlock (&self->lock);
  } while (!done);
  if (self->thread)
    g_thread_join (self->thread);
  gst_spdl_loader_stop (self->loader);
}

/* End of a run */

static gboolean
on_tick (gpointer data)
{
  Session *self = data;
  Snapshot *snapshot = session_take_snapshot (self, TRUE);

  /* Charts of long runs have half as many points. */
  if (self->snapshots->len >= MAX_SNAPSHOTS)
    for (guint i = self->snapshots->len / 2; i > 0; i--)
      g_ptr_array_remove_index (self->snapshots, 2 * i - 1);
  g_ptr_array_add (self->snapshots, snapshot);
  if (self->funcs && self->funcs->snapshot)
    self->funcs->snapshot (self, snapshot, self->user_data);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_limit (gpointer data)
{
  finish_session (data, SESSION_LIMITED);
  return G_SOURCE_REMOVE;
}

void
session_end (Session *self)
{
  g_idle_add (on_limit, self);
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
on_drain_time (gpointer data)
{
  finish_session (data, SESSION_FAILED);
  return G_SOURCE_REMOVE;
}

/* Ends the run with @error (transfer full) when the loader has given out what
 * is finished. Only the first error is kept. */
static void
fail_session (Session *self, GError *error)
{
  if (self->error) {
    g_error_free (error);
    return;
  }
  self->error = error;
  g_timeout_add_seconds (DRAIN_S, on_drain_time, self);
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
static void
take_warning (Session *self, GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  Part *part = parts_find_element (self->parts, GST_MESSAGE_SRC (message));
  gboolean is_summary;
  guint64 epoch;

  /* A single failed item has a separate message. */
  if (gst_spdl_losses_parse_warning (message, &is_summary, &epoch))
    return;
  gst_message_parse_warning (message, &error, NULL);
  spdl_show_error (error);
  if (self->funcs && self->funcs->warning)
    self->funcs->warning (self,
        part ? part->name : GST_OBJECT_NAME (GST_MESSAGE_SRC (message)),
        error->message, self->user_data);
}

gchar *
failure_format (const GstSpdlFailure *failure)
{
  g_autofree gchar *name = spdl_show_line (failure->uri);

  return g_strconcat (
      name, failure->uri ? ": " : "", failure->error->message, NULL);
}

/* The loader counts the failures. Returns whether this one was one too many. */
static gboolean
has_ended_the_run (Session *self, const GstSpdlFailure *failure)
{
  g_autoptr (GError) error = gst_spdl_loader_dup_error (self->loader);
  g_autofree gchar *stage = NULL, *uri = NULL;

  return g_error_matches (
             error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FAILURES) &&
         gst_spdl_loader_get_error_item (self->loader, &stage, &uri) &&
         g_strcmp0 (stage, failure->stage) == 0 &&
         g_strcmp0 (uri, failure->uri) == 0;
}

/* @failure: (transfer full) */
static void
take_failure (Session *self, const Part *part, GstSpdlFailure *failure)
{
  const gint max = self->limits.max_failures;
  const gboolean is_last = has_ended_the_run (self, failure);

  g_free (failure->stage);
  failure->stage = g_strdup (part->name);
  if (self->funcs && self->funcs->failure)
    self->funcs->failure (self, failure, self->user_data);
  if (is_last) {
    g_autofree gchar *text = failure_format (failure);

    fail_session (self, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED,
                            "%d items failed, but --max-failures is %d; the "
                            "last one in %s: %s",
                            max + 1, max, failure->stage, text));
  }
  if (self->failures->len < MAX_FAILURES_KEPT)
    g_ptr_array_add (self->failures, failure);
  else
    gst_spdl_failure_free (failure);
}

static void
take_tuning (Session *self, GstStructure *decision)
{
  gst_structure_set (decision, "time", G_TYPE_DOUBLE,
      (g_get_monotonic_time () - self->first.time) / 1e6, NULL);
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
  GstSpdlFailure *failure;
  gboolean interval = FALSE;

  if (!s || !part)
    return;
  if ((failure = gst_spdl_failure_parse (message))) {
    take_failure (self, part, failure);
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
        pipeline_end_loader_sink (self->loader_sink);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* Construction and execution */

Session *
session_new_for (GstElement *pipeline, GError **error)
{
  Session *self = g_new0 (Session, 1);

  self->pipeline = pipeline;
  self->parts = parts_new (pipeline);
  self->snapshots = g_ptr_array_new_with_free_func (snapshot_free);
  self->failures =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_spdl_failure_free);
  self->tuning =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  if (pipeline_find_sink (self->parts, &self->sink, error))
    self->loader_sink = self->sink ? gst_object_ref (self->sink)
                                   : pipeline_make_loader_sink (error);
  if (!self->loader_sink)
    g_clear_pointer (&self, session_free);
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
session_new (
    gchar **description, gchar **settings, guint n_cached, GError **error)
{
  GstElement *pipeline = pipeline_new (description, error);
  Session *self;

  if (pipeline && n_cached > 0 &&
      !pipeline_insert_cache (pipeline, n_cached, error))
    gst_clear_object (&pipeline);
  if (!pipeline || !(self = session_new_for (pipeline, error)))
    return NULL;
  self->description = pipeline_describe (description);
  if (!apply_all (self, settings, error))
    g_clear_pointer (&self, session_free);
  return self;
}

void
session_free (Session *self)
{
  g_clear_object (&self->loader);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  if (self->loader_sink)
    gst_element_set_state (self->loader_sink, GST_STATE_NULL);
  gst_clear_object (&self->loader_sink);
  g_clear_pointer (&self->result, snapshot_free);
  g_clear_pointer (&self->first.cpus, gst_structure_free);
  g_clear_pointer (&self->last.cpus, gst_structure_free);
  g_clear_error (&self->error);
  g_clear_error (&self->problem);
  g_ptr_array_unref (self->snapshots);
  g_ptr_array_unref (self->failures);
  g_ptr_array_unref (self->tuning);
  g_ptr_array_unref (self->parts);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  gst_clear_object (&self->sink);
  gst_object_unref (self->pipeline);
  g_free (self->description);
  g_free (self->state);
  g_free (self);
}

static void
begin_session (Session *self)
{
  /* Messages of a start that fails are read after it. */
  g_object_set (self->pipeline, "auto-flush-bus", FALSE, NULL);
  /* The process has no other work, so its whole CPU time counts. */
  self->loader = gst_spdl_loader_new_as_is (GST_PIPELINE (self->pipeline),
      (GstSpdlLoaderSink *) self->loader_sink, process_get_cpu_time);
  g_object_set (self->loader, "max-failures", self->limits.max_failures, NULL);
  if (self->limits.cpu_budget > 0)
    g_object_set (self->loader, "cpu-budget", self->limits.cpu_budget, NULL);
  parts_set_interval (self->parts, self->limits.interval);
  if (self->sink)
    parts_find_element (self->parts, GST_OBJECT (self->sink))->given_step =
        self->limits.step;
  self->first.time = self->last.time = g_get_monotonic_time ();
  self->first.cpus = gst_spdl_loader_dup_cpu_stats (self->loader);
  self->last.cpus = gst_structure_copy (self->first.cpus);
  start_pulling (self);
}

/* Collects the statistics before the pipeline is stopped. */
static void
stop_session (Session *self)
{
  g_mutex_lock (&self->lock);
  self->stopped = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  self->result = session_take_snapshot (self, FALSE);
  if (self->sink)
    g_object_get (self->sink, "resume-state", &self->state, NULL);
  stop_pulling (self);
}

/* Removes the handlers of signals, so that a second Ctrl-C ends the program
 * while the pipeline stops, of time and of messages. */
static void
remove_sources (Session *self)
{
  while (g_source_remove_by_user_data (self))
    ;
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

  self->limits = *limits;
  self->funcs = funcs;
  self->user_data = user_data;
  self->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, on_message, self);
  g_unix_signal_add (SIGINT, on_interrupt, self);
  g_unix_signal_add (SIGTERM, on_interrupt, self);
  if (limits->interval > 0)
    g_timeout_add (limits->interval / 1000000, on_tick, self);

  begin_session (self);
  /* The start does not count. */
  if (limits->duration > 0)
    g_timeout_add (limits->duration / 1000000, on_limit, self);
  g_main_loop_run (self->loop);
  remove_sources (self);
  stop_session (self);
  remove_sources (self);
  gst_object_unref (bus);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  if (self->error && self->end != SESSION_INTERRUPTED)
    self->end = SESSION_FAILED;
  if (self->end == SESSION_FAILED && error)
    *error = g_error_copy (self->error);
  return self->end != SESSION_FAILED;
}

/* Returns the rate of a run without pulled batches. */
static double
get_rate_of_snapshots (Session *self)
{
  const Snapshot *end = self->result;

  for (guint i = 0; i < self->snapshots->len; i++) {
    const Snapshot *snapshot = g_ptr_array_index (self->snapshots, i);

    if (snapshot->time >= self->limits.warm_up / 1e9 &&
        end->time > snapshot->time)
      return (end->items - snapshot->items) / (end->time - snapshot->time);
  }
  return end->item_rate;
}

double
session_get_steady_rate (Session *self)
{
  const Counts *c = &self->counts;

  if (!self->sink)
    return get_rate_of_snapshots (self);
  if (c->steady_since == 0 || c->last <= c->steady_since)
    return self->result->item_rate;
  return (c->items - c->steady_items) * 1e6 / (c->last - c->steady_since);
}

double
session_get_batch_time (Session *self, double *wait)
{
  const Counts *c = &self->counts;
  const double n = c->batches - c->steady_batches;

  *wait = 0;
  if (c->steady_since == 0 || n == 0)
    return 0;
  *wait = c->waited / 1e6 / n;
  return (c->last - c->steady_since) / 1e6 / n;
}
