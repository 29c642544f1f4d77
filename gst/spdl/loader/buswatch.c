/* gst-spdl: errors, warnings and failures from the pipeline's bus
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/buswatch.h"

#include <gst/app/gstappsrc.h>

#include "gst/spdl/common/showntext.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/progress/state.h"

/* Element of n_failures_of. */
typedef struct {
  guint64 epoch;
  guint64 n;
} EpochFailures;

GstSpdlBusWatch *
gst_spdl_bus_watch_ref (GstSpdlBusWatch *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

void
gst_spdl_bus_watch_unref (GstSpdlBusWatch *self)
{
  GstSpdlNotice *notice;

  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  while ((notice = g_queue_pop_head (&self->notices)))
    gst_spdl_notice_free (notice);
  g_clear_error (&self->error);
  g_free (self->error_stage);
  g_free (self->error_uri);
  g_array_unref (self->n_failures_of);
  gst_spdl_thread_times_clear (&self->threads);
  g_clear_pointer (&self->first_cpus, gst_structure_free);
  g_clear_pointer (&self->last_cpus, gst_structure_free);
  gst_spdl_drain_clear (&self->drain);
  spdl_cond_clear (&self->has_room);
  spdl_mutex_clear (&self->lock);
  gst_object_unref (self->sink);
  gst_object_unref (self->bus);
  gst_object_unref (self->pipeline);
  g_free (self);
}

static void
unref_bus_watch (gpointer self)
{
  gst_spdl_bus_watch_unref (self);
}

void
gst_spdl_notice_free (GstSpdlNotice *self)
{
  g_clear_pointer (&self->failure, gst_spdl_failure_free);
  g_free (self->stage);
  g_free (self->text);
  g_free (self);
}

/* Stores the error. Returns TRUE if it is the first one. */
static gboolean
keep_error (
    GstSpdlBusWatch *self, GError *error, const gchar *stage, const gchar *uri)
{
  gboolean first;

  spdl_show_error (error); /* the message may be of any element */
  spdl_mutex_lock (&self->lock);
  first = !self->error;
  if (first) {
    self->error = g_steal_pointer (&error);
    self->error_stage = g_strdup (stage);
    self->error_uri = g_strdup (uri);
  }
  spdl_cond_broadcast (&self->has_room);
  spdl_mutex_unlock (&self->lock);
  g_clear_error (&error);
  return first;
}

void
gst_spdl_bus_watch_set_error (GstSpdlBusWatch *self, GError *error)
{
  keep_error (self, error, NULL, NULL);
}

/* No end of the stream will arrive. */
static void
note_no_more (gpointer user_data)
{
  GstSpdlBusWatch *self = user_data;

  spdl_mutex_lock (&self->lock);
  self->no_more = TRUE;
  spdl_mutex_unlock (&self->lock);
  gst_spdl_loader_sink_wake (self->sink);
}

/* Handles an error of the run.
 *
 * @source: (nullable): the element that cannot push any more */
static void
fail_run (GstSpdlBusWatch *self, GError *error, const gchar *stage,
    const gchar *uri, GstElement *source)
{
  const gboolean first = keep_error (self, error, stage, uri);

  gst_spdl_drain_begin (&self->drain, source, first);
  if (source == GST_ELEMENT_CAST (self->sink))
    note_no_more (self);
  gst_spdl_loader_sink_wake (self->sink);
}

/* Messages */

static guint64
count_failures (const GstSpdlNotice *notice)
{
  return notice->n_forgotten + (notice->failure != NULL);
}

static void
keep_notice (GstSpdlBusWatch *self, GstSpdlNotice *notice)
{
  GstSpdlNotice *oldest = NULL;

  spdl_mutex_lock (&self->lock);
  g_queue_push_tail (&self->notices, notice);
  if (self->notices.length > GST_SPDL_MAX_NOTICES) {
    oldest = g_queue_pop_head (&self->notices);
    ((GstSpdlNotice *) g_queue_peek_head (&self->notices))->n_forgotten +=
        count_failures (oldest);
  }
  spdl_mutex_unlock (&self->lock);
  if (oldest)
    gst_spdl_notice_free (oldest);
}

static const gchar *
get_detail (GstMessage *message, const gchar *name)
{
  const GstStructure *details = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error_details (message, &details);
  else
    gst_message_parse_warning_details (message, &details);
  return details ? gst_structure_get_string (details, name) : NULL;
}

/* Returns the name of the element. A message from another process contains
 * it. */
static const gchar *
name_of (GstMessage *message)
{
  const gchar *stage = get_detail (message, "stage");

  return stage ? stage : GST_MESSAGE_SRC_NAME (message);
}

static gboolean
can_sink (GstObject *element, GstCaps *caps)
{
  GstElementFactory *factory = gst_element_get_factory (GST_ELEMENT (element));

  return factory && gst_element_factory_can_sink_any_caps (factory, caps);
}

/* Handles the error of a source that pushed what the next element refuses,
 * about which GStreamer says no more than "Internal data stream error". Returns
 * FALSE for any other error. */
static gboolean
fail_for_caps (GstSpdlBusWatch *self, GstMessage *message)
{
  GstObject *source = GST_MESSAGE_SRC (message);
  const GstStructure *details = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstPad) peer = NULL;
  g_autoptr (GstObject) next = NULL;
  g_autoptr (GstCaps) caps = NULL;
  gint flow = GST_FLOW_OK;

  gst_message_parse_error_details (message, &details);
  if (!GST_IS_APP_SRC (source) || !details ||
      !gst_structure_get_int (details, "flow-return", &flow) ||
      flow != GST_FLOW_NOT_NEGOTIATED)
    return FALSE;
  pad = gst_element_get_static_pad (GST_ELEMENT (source), "src");
  peer = gst_pad_get_peer (pad);
  next = peer ? gst_pad_get_parent (peer) : NULL;
  caps = gst_pad_get_current_caps (pad);
  if (!next || !caps || can_sink (next, caps))
    return FALSE;
  fail_run (self,
      g_error_new (GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_SOURCE,
          "%s, the first element, does not accept an item of type %s: give "
          "paths and URIs to spdlfetch, encoded data to spdldecode, and arrays "
          "to spdlbatch",
          GST_OBJECT_NAME (next),
          gst_structure_get_name (gst_caps_get_structure (caps, 0))),
      GST_OBJECT_NAME (next), NULL, GST_ELEMENT (source));
  return TRUE;
}

static void
on_error (GstSpdlBusWatch *self, GstMessage *message)
{
  GstObject *source = GST_MESSAGE_SRC (message);
  GError *error = NULL;

  gst_message_parse_error (message, &error, NULL);
  if (source)
    g_prefix_error (&error, "%s: ", name_of (message));
  fail_run (self, error, source ? name_of (message) : NULL,
      get_detail (message, "uri"),
      GST_IS_ELEMENT (source) ? GST_ELEMENT (source) : NULL);
}

/* Ignores warnings about single items, which are reported one by one. */
static void
on_warning (GstSpdlBusWatch *self, GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  guint64 epoch = G_MAXUINT64;
  GstSpdlNotice *notice;
  gboolean is_summary;

  if (gst_spdl_losses_parse_warning (message, &is_summary, &epoch))
    return;
  gst_message_parse_warning (message, &error, NULL);
  notice = g_new0 (GstSpdlNotice, 1);
  notice->stage = g_strdup (name_of (message));
  notice->text = spdl_show_text (error->message);
  notice->is_summary = is_summary;
  notice->epoch = epoch;
  keep_notice (self, notice);
}

/* Lock held. Counts a failure of @epoch. */
static void
count_failure_of (GstSpdlBusWatch *self, guint64 epoch)
{
  EpochFailures failures = { epoch, 1 };

  for (guint i = self->n_failures_of->len; i > 0; i--) {
    EpochFailures *other =
        &g_array_index (self->n_failures_of, EpochFailures, i - 1);

    if (other->epoch == epoch) {
      other->n++;
      return;
    }
  }
  g_array_append_val (self->n_failures_of, failures);
}

/* Returns TRUE if failures of the epoch @failed_in will recur in a run that
 * begins at @epoch. Failures without an epoch number do not recur. */
static gboolean
is_ahead (guint64 failed_in, guint64 epoch)
{
  return failed_in != G_MAXUINT64 && failed_in >= epoch;
}

guint64
gst_spdl_bus_watch_leave_epoch (GstSpdlBusWatch *self, guint64 epoch)
{
  guint64 n;

  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_failures_of->len; i++) {
    const EpochFailures *failures =
        &g_array_index (self->n_failures_of, EpochFailures, i);

    if (is_ahead (failures->epoch, epoch))
      self->n_failures -= failures->n;
  }
  for (GList *l = self->notices.head, *next; l; l = next) {
    GstSpdlNotice *notice = l->data;

    next = l->next;
    if (!is_ahead (notice->epoch, epoch))
      continue;
    gst_spdl_notice_free (notice);
    g_queue_delete_link (&self->notices, l);
  }
  n = self->n_failures;
  spdl_mutex_unlock (&self->lock);
  return n;
}

/* Counts a failure. Returns the error to end with if there are too many. Its
 * epoch is the last one with a failure, since without the failures of that
 * epoch there would not be too many. */
static GError *
count_failure (GstSpdlBusWatch *self, const GstSpdlFailure *failure)
{
  g_autofree gchar *name =
      spdl_show_line (failure->uri ? failure->uri : "an item without a URI");
  GError *error = NULL;

  spdl_mutex_lock (&self->lock);
  self->n_failures++;
  count_failure_of (self, failure->epoch);
  self->last_epoch = MAX (self->last_epoch, failure->epoch);
  if (self->max_failures >= 0 && !self->error &&
      self->n_failures > (guint64) self->max_failures) {
    self->error_epoch = self->last_epoch;
    error = g_error_new (GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_FAILURES,
        "%" G_GUINT64_FORMAT
        " items failed, but max-failures is %d; the last was %s, in %s: %s",
        self->n_failures, self->max_failures, name, failure->stage,
        failure->error->message);
  }
  spdl_mutex_unlock (&self->lock);
  return error;
}

/* @failure: (transfer full) */
static void
on_failure (GstSpdlBusWatch *self, GstSpdlFailure *failure)
{
  GstSpdlNotice *notice = g_new0 (GstSpdlNotice, 1);
  GError *error = count_failure (self, failure);

  if (error)
    fail_run (self, error, failure->stage, failure->uri, NULL);
  notice->failure = failure;
  notice->epoch = failure->epoch;
  keep_notice (self, notice);
}

/* Streaming threads */

/* Gives a new streaming thread to its task. Without one, the run fails. */
static void
prepare_task (GstSpdlBusWatch *self, GstMessage *message)
{
  GstElement *owner;
  GError *error = NULL;

  if (spdl_task_thread_prepare (message, &error))
    return;
  gst_message_parse_stream_status (message, NULL, &owner);
  fail_run (self, error, GST_OBJECT_NAME (owner), NULL, owner);
}

/* Gives a streaming thread the batch policy when it enters the pipeline. A
 * thread of another pool announces both entering and leaving, after which it is
 * used for other pipelines. */
static void
be_patient (GstSpdlBusWatch *self, GstMessage *message)
{
  GstStreamStatusType type;

  gst_message_parse_stream_status (message, &type, NULL);
  if (type == GST_STREAM_STATUS_TYPE_CREATE)
    prepare_task (self, message);
  else if (type == GST_STREAM_STATUS_TYPE_ENTER)
    spdl_thread_set_batch_scheduling (TRUE);
  else if (type == GST_STREAM_STATUS_TYPE_LEAVE)
    spdl_thread_set_batch_scheduling (FALSE);
}

static void
handle_message (GstSpdlBusWatch *self, GstMessage *message)
{
  GstSpdlFailure *failure;

  g_atomic_int_set (&self->any_message, TRUE);

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      if (!fail_for_caps (self, message))
        on_error (self, message);
      break;
    case GST_MESSAGE_WARNING:
      on_warning (self, message);
      break;
    case GST_MESSAGE_ELEMENT:
      if ((failure = gst_spdl_failure_parse (message)))
        on_failure (self, failure);
      break;
    case GST_MESSAGE_STREAM_STATUS:
      be_patient (self, message);
      gst_spdl_thread_times_take_message (&self->threads, message);
      break;
    default:
      break;
  }
}

/* Nobody else reads the bus of a pipeline that the loader made. */
static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer self)
{
  handle_message (self, message);
  /* A sync handler that returns GST_BUS_DROP must unref the message. */
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* Messages that an application may leave on its bus. Statistics come every
 * second, for days. */
#define MAX_UNREAD 10000

static void
on_message_freed (gpointer user_data, GstMiniObject *message)
{
  GstSpdlBusWatch *self = user_data;

  g_atomic_int_add (&self->n_unread, -1);
  gst_spdl_bus_watch_unref (self);
}

/* Drops the oldest message of the bus if the application reads none. */
static void
limit_unread (GstSpdlBusWatch *self, GstMessage *message)
{
  GstMessage *oldest;

  gst_mini_object_weak_ref (GST_MINI_OBJECT_CAST (message), on_message_freed,
      gst_spdl_bus_watch_ref (self));
  if (g_atomic_int_add (&self->n_unread, 1) < MAX_UNREAD)
    return;
  if (g_atomic_int_compare_and_exchange (&self->has_dropped, FALSE, TRUE))
    GST_WARNING_OBJECT (self->bus,
        "The application has not read %d messages: the oldest ones are dropped",
        MAX_UNREAD);
  if ((oldest = gst_bus_pop (self->bus)))
    gst_message_unref (oldest);
}

/* The application gets the message as well. */
static void
see_message (GstBus *bus, GstMessage *message, gpointer self)
{
  handle_message (self, message);
  limit_unread (self, message);
}

static void
release_bus_watch (gpointer self, GClosure *closure)
{
  gst_spdl_bus_watch_unref (self);
}

static void
attach (GstSpdlBusWatch *self, gboolean is_own)
{
  self->bus = gst_element_get_bus (self->pipeline);
  gst_spdl_bus_watch_ref (self);
  if (is_own) {
    gst_bus_set_sync_handler (self->bus, take_message, self, unref_bus_watch);
    return;
  }
  self->was_flushing = GST_OBJECT_FLAG_IS_SET (self->bus, GST_BUS_FLUSHING);
  gst_bus_enable_sync_message_emission (self->bus);
  self->handler = g_signal_connect_data (self->bus, "sync-message",
      G_CALLBACK (see_message), self, release_bus_watch, 0);
}

gboolean
gst_spdl_bus_watch_check (GstSpdlBusWatch *self, GError **error)
{
  if (g_atomic_int_get (&self->any_message))
    return TRUE;
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_PIPELINE,
      "The sync handler of the pipeline's bus drops all messages, so the "
      "loader would not see errors: return GST_BUS_PASS for messages that the "
      "handler does not need");
  return FALSE;
}

GstSpdlBusWatch *
gst_spdl_bus_watch_new (GstPipeline *pipeline, gboolean is_own,
    GstSpdlLoaderSink *sink, gint max_failures)
{
  GstSpdlBusWatch *self = g_new0 (GstSpdlBusWatch, 1);

  self->n_refs = 1;
  self->pipeline = gst_object_ref (GST_ELEMENT (pipeline));
  self->sink = gst_object_ref (sink);
  self->max_failures = max_failures;
  self->error_epoch = G_MAXUINT64;
  gst_spdl_drain_init (&self->drain, self->pipeline, note_no_more, self);
  self->n_failures_of = g_array_new (FALSE, FALSE, sizeof (EpochFailures));
  gst_spdl_thread_times_init (&self->threads);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->has_room);
  attach (self, is_own);
  return self;
}

void
gst_spdl_bus_watch_detach (GstSpdlBusWatch *self)
{
  gst_spdl_drain_join (&self->drain);
  if (self->handler == 0) {
    gst_bus_set_sync_handler (self->bus, NULL, NULL, NULL);
  } else {
    g_signal_handler_disconnect (self->bus, self->handler);
    gst_bus_disable_sync_message_emission (self->bus);
    gst_bus_set_flushing (self->bus, self->was_flushing);
  }
  g_clear_pointer (&self->governor, gst_spdl_governor_free);
}

void
gst_spdl_bus_watch_note_start (gpointer self)
{
  GstSpdlBusWatch *bus_watch = self;

  spdl_mutex_lock (&bus_watch->lock);
  spdl_cond_broadcast (&bus_watch->has_room);
  spdl_mutex_unlock (&bus_watch->lock);
}

void
gst_spdl_bus_watch_stop (GstSpdlBusWatch *self)
{
  spdl_mutex_lock (&self->lock);
  self->stopped = TRUE;
  spdl_cond_broadcast (&self->has_room);
  spdl_mutex_unlock (&self->lock);
  gst_spdl_drain_stop (&self->drain);
  gst_spdl_loader_sink_wake (self->sink);
}

gboolean
gst_spdl_bus_watch_is_stopped (GstSpdlBusWatch *self)
{
  gboolean stopped;

  spdl_mutex_lock (&self->lock);
  stopped = self->stopped;
  spdl_mutex_unlock (&self->lock);
  return stopped;
}

void
gst_spdl_bus_watch_set_max_failures (GstSpdlBusWatch *self, gint max_failures)
{
  spdl_mutex_lock (&self->lock);
  self->max_failures = max_failures;
  spdl_mutex_unlock (&self->lock);
}

gboolean
gst_spdl_bus_watch_failed_in (GstSpdlBusWatch *self, guint64 epoch)
{
  gboolean failed;

  spdl_mutex_lock (&self->lock);
  failed = self->error && self->error_epoch <= epoch;
  spdl_mutex_unlock (&self->lock);
  return failed;
}

GError *
gst_spdl_bus_watch_dup_error (GstSpdlBusWatch *self)
{
  GError *error;

  spdl_mutex_lock (&self->lock);
  error = self->error ? g_error_copy (self->error) : NULL;
  spdl_mutex_unlock (&self->lock);
  return error;
}

/* Returns TRUE if the state counts the failed item as done. With mixed sources,
 * one of them may be some epochs ahead of the batch. */
static gboolean
is_behind (SpdlStatePlace *place, const GstSpdlNotice *notice)
{
  const GstSpdlFailure *failure = notice->failure;

  return failure && spdl_state_place_has (place, failure->source,
                        failure->epoch, failure->sequence);
}

void
gst_spdl_bus_watch_take_notices (GstSpdlBusWatch *self, guint64 n_epochs,
    const gchar *state, GQueue *notices)
{
  SpdlStatePlace place = { state };

  spdl_mutex_lock (&self->lock);
  for (GList *l = self->notices.head, *next; l; l = next) {
    GstSpdlNotice *notice = l->data;

    next = l->next;
    if (notice->epoch != G_MAXUINT64 && notice->epoch >= n_epochs &&
        !is_behind (&place, notice))
      continue;
    self->n_reported += count_failures (notice);
    g_queue_unlink (&self->notices, l);
    g_queue_push_tail_link (notices, l);
  }
  spdl_mutex_unlock (&self->lock);
  spdl_state_place_clear (&place);
}
