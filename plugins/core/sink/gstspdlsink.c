/* gst-spdl: element spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlsink
 * @title: spdlsink
 * @short_description: delivers batches to the training loop
 *
 * A #GstAppSink with other defaults: it does not synchronize to a clock
 * (`sync`), keeps no last sample, and holds at most two batches
 * (`max-buffers`). It removes the events of this project from the stream.
 *
 * ## Statistics
 * The sink measures how long the trainer waits and how old items are when the
 * trainer takes them. It measures this on the action signals `pull-sample` and
 * `try-pull-sample`, because appsink's C functions do not call the subclass.
 * The time between two waits is the trainer's step (`ave-step-time`,
 * `p50-step-time`, `p99-step-time`). If steps are slow and waits are short,
 * faster loading does not help. #GstSpdlLoader takes batches from the sink
 * directly, and is measured in the same way.
 *
 * ## Resuming
 * From the events of `spdlsrc` and of the stages, the sink knows which items
 * were delivered and which ones will not come. It stores a resume state in the
 * #GstSpdlBatchMeta.resume_state of each batch, in the order in which batches
 * are pulled. A trainer saves the state of the last batch that it used. With
 * `spdlsrc resume-state`, a run continues after this batch and delivers each
 * remaining item once.
 *
 * The property `resume-state` is the state of the last batch that was pulled
 * through the action signals; before the first batch, it is the state in which
 * the source started. It includes items that were lost after that batch, so
 * after the last batch of an epoch it becomes the start of the next one.
 * Without `spdlbatch`, it is the only way to read states.
 *
 * ## Epochs without a batch
 * If all items of an epoch fail or are dropped, the stream ends with an error.
 * The message states how many items were sent, how they were lost and in which
 * element. No error is raised if functions left out all items, if the source or
 * this rank has no items, or if the epoch was resumed in the middle.
 *
 * With `async=false`, the sink does not wait for a batch when the pipeline
 * starts. An appsink with this property can block the change to PLAYING
 * forever, if its queue becomes full at that time. This element cannot.
 *
 * A sink blocks when it is full and no batches are pulled. In gst-launch-1.0,
 * use `fakesink` instead; the element posts a warning about this.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=2 ! spdlbatch batch-size=2 ! spdlsink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/app/gstappsink.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/loader/loadersink.h"
#include "gst/spdl/stage/failure.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/common/progresstracker.h"
#include "plugins/core/core.h"
#include "plugins/core/outcome.h"
#include "plugins/core/sink/sinkqueue.h"

#define GST_TYPE_SPDL_SINK (gst_spdl_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlSink, gst_spdl_sink, GST, SPDL_SINK, GstAppSink)

struct _GstSpdlSink {
  GstAppSink parent;

  GstSpdlPlainStats *stats;
  /* Guarded by the lock of the statistics. */
  gint n_waiting; /* rendered but not pulled */

  SpdlMutex trackers_lock;
  SpdlProgressTracker tracker; /* guarded by trackers_lock */
  gboolean warned;             /* about too many gaps */

  /* Used if a loader pulls, in which case appsink's queue is bypassed. */
  gboolean is_loader_sink;
  SpdlSinkQueue queue;
  GstCaps *caps; /* guarded by the stream lock */

  /* Number of requests that appsink leaves its waits. */
  SpdlMutex unlock_lock;
  guint n_unlocks;

  /* Guarded by the stream lock. */
  SpdlOutcome outcome;
  gboolean has_ended; /* the stream ended with an error; further buffers are
                         refused */
};

/* Lock of the statistics held. */
static inline void
gst_spdl_sink_set_waiting (GstSpdlSink *self, gint n, guint64 now)
{
  self->n_waiting = n;
  spdl_meter_set_occupied (&self->stats->meter, n > 0, now);
}

static void gst_spdl_sink_loader_sink_init (GstSpdlLoaderSinkInterface *iface);

/* URIs of the parent class, appsink://, make the parent class. */
static const gchar *const *
get_protocols (GType type)
{
  static const gchar *const protocols[] = { "spdlsink", NULL };

  return protocols;
}

static gchar *
get_uri (GstURIHandler *handler)
{
  return g_strdup ("spdlsink://");
}

static void
gst_spdl_sink_uri_handler_init (GstURIHandlerInterface *iface)
{
  iface->get_protocols = get_protocols;
  iface->get_uri = get_uri;
}

enum {
  PROP_0,
  PROP_RESUME_STATE,
  PROP_MAX_GAPS,
  PROP_STATS_INTERVAL,
  PROP_STAGE_STATS,
};

#define DEFAULT_MAX_GAPS 16384

G_DEFINE_FINAL_TYPE_WITH_CODE (GstSpdlSink, gst_spdl_sink, GST_TYPE_APP_SINK,
    G_IMPLEMENT_INTERFACE (
        GST_TYPE_SPDL_LOADER_SINK, gst_spdl_sink_loader_sink_init)
        G_IMPLEMENT_INTERFACE (
            GST_TYPE_URI_HANDLER, gst_spdl_sink_uri_handler_init))
GST_ELEMENT_REGISTER_DEFINE (
    spdlsink, "spdlsink", GST_RANK_NONE, GST_TYPE_SPDL_SINK)

/* Input */

/* Posts a warning once. The tracker's lock must not be held. */
static void
warn_of_gaps (GstSpdlSink *self, guint max_gaps)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("More than %u gaps lie between the items that arrived: an element loses "
       "items without a message, or the stages hold very many items. Batches "
       "have no resume state until there are fewer gaps (see max-gaps)",
          max_gaps),
      (NULL));
}

/* Posts a warning once. The tracker's lock must not be held. */
static void
warn_of_conflict (GstSpdlSink *self)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("Source %u was announced again with another dataset, so the progress "
       "of the two datasets cannot be distinguished: batches have no resume "
       "state until the pipeline is started again. Give each source its own "
       "number; replace an spdlsrc by a new one instead of changing its "
       "location",
          self->tracker.conflict),
      (NULL));
}

/* Counts a batch or an item, and stores the resume state in a batch. Returns
 * (transfer full) the buffer to deliver, which is a copy if @buffer is
 * shared. */
static GstBuffer *
take_in (GstSpdlSink *self, GstBuffer *buffer)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GstBuffer *own;
  gchar *state = NULL;
  gboolean warn;
  guint max_gaps;

  spdl_mutex_lock (&self->trackers_lock);
  if (batch)
    state = spdl_progress_tracker_add_batch (
        &self->tracker, batch, gst_spdl_buffer_is_cached (buffer));
  else
    spdl_progress_tracker_add_item (&self->tracker);
  max_gaps = self->tracker.max_gaps;
  warn = !state && !self->warned &&
         spdl_progress_tracker_is_full_of_gaps (&self->tracker);
  self->warned |= warn;
  spdl_mutex_unlock (&self->trackers_lock);
  if (warn)
    warn_of_gaps (self, max_gaps);
  if (!state)
    return gst_buffer_ref (buffer);

  own = gst_buffer_is_writable (buffer) ? buffer : gst_buffer_copy (buffer);
  batch = gst_spdl_buffer_get_batch_meta (own);
  g_free (batch->resume_state);
  batch->resume_state = state;
  return own == buffer ? gst_buffer_ref (buffer) : own;
}

/* Returns the class whose virtual functions are chained up to. With a loader
 * that is GstBaseSink's, which bypasses appsink. */
static GstBaseSinkClass *
get_base (GstSpdlSink *self)
{
  return g_type_class_peek (
      self->is_loader_sink ? GST_TYPE_BASE_SINK : GST_TYPE_APP_SINK);
}

static void
drop_oldest (GstSpdlSink *self)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_sink_queue_drop (&self->queue);
  spdl_mutex_lock (&stats->lock);
  gst_spdl_sink_set_waiting (
      self, self->n_waiting - 1, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* Waits for space for a loader's buffer. GST_BASE_SINK_PREROLL_WAIT releases
 * the preroll lock for state changes. */
static GstFlowReturn
wait_for_room (GstSpdlSink *self)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  const guint max = gst_app_sink_get_max_buffers (GST_APP_SINK (self));

  while (!spdl_sink_queue_has_room (&self->queue, max)) {
    if (sink->flushing)
      return GST_FLOW_FLUSHING;
    if (gst_app_sink_get_drop (GST_APP_SINK (self)))
      drop_oldest (self);
    else
      GST_BASE_SINK_PREROLL_WAIT (sink);
  }
  return GST_FLOW_OK;
}

/* Delivers a buffer to the loader's queue, or otherwise through appsink. */
static GstFlowReturn
deliver_buffer (GstSpdlSink *self, GstBuffer *buffer, gboolean exclusive)
{
  GstFlowReturn ret;

  if (!self->is_loader_sink)
    return get_base (self)->render (GST_BASE_SINK (self), buffer);
  ret = wait_for_room (self);
  if (ret == GST_FLOW_OK)
    spdl_sink_queue_add_buffer (&self->queue, buffer, self->caps, exclusive);
  return ret;
}

/* Renders a buffer.
 *
 * @exclusive: the stream holds the only reference to @buffer, which can be
 *     determined here but not when it is pulled */
static GstFlowReturn
render_buffer (GstSpdlSink *self, GstBuffer *buffer, gboolean exclusive)
{
  GstSpdlPlainStats *stats = self->stats;
  const guint n_items = spdl_buffer_count_items (buffer);
  const gboolean is_batch = gst_spdl_buffer_get_batch_meta (buffer) != NULL;
  const gsize bytes = gst_buffer_get_size (buffer);
  g_autoptr (GstBuffer) own = take_in (self, buffer);
  const guint64 before = spdl_meter_now (&stats->meter);
  self->outcome.arrived = TRUE;
  const GstFlowReturn ret =
      self->has_ended ? GST_FLOW_EOS : deliver_buffer (self, own, exclusive);

  if (ret != GST_FLOW_OK)
    return ret;
  spdl_mutex_lock (&stats->lock);
  const guint64 now = spdl_meter_now (&stats->meter);
  spdl_histogram_add (&stats->meter.interval.put_time, now - before);
  if (G_UNLIKELY (stats->meter.track))
    spdl_trace_add (stats->meter.track, SPDL_TRACE_NO_ROOM, before, now,
        G_MAXUINT64, n_items);
  stats->meter.interval.items += n_items;
  stats->meter.interval.batches += is_batch;
  stats->meter.interval.bytes_in += bytes;
  gst_spdl_sink_set_waiting (self, self->n_waiting + 1, now);
  spdl_mutex_unlock (&stats->lock);
  return ret;
}

static GstFlowReturn
gst_spdl_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  return render_buffer (
      GST_SPDL_SINK (sink), buffer, gst_buffer_is_writable (buffer));
}

static GstFlowReturn
gst_spdl_sink_render_list (GstBaseSink *sink, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  const gboolean exclusive = gst_buffer_list_is_writable (list);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    GstBuffer *buffer = gst_buffer_list_get (list, i);

    ret = render_buffer (GST_SPDL_SINK (sink), buffer,
        exclusive && GST_MINI_OBJECT_REFCOUNT_VALUE (buffer) == 1);
  }
  return ret;
}

/* Bypasses appsink, which would keep the buffer. */
static GstFlowReturn
gst_spdl_sink_preroll (GstBaseSink *sink, GstBuffer *buffer)
{
  GstBaseSinkClass *base = get_base (GST_SPDL_SINK (sink));

  return base->preroll ? base->preroll (sink, buffer) : GST_FLOW_OK;
}

/* Bypasses appsink, which would queue the caps. */
static gboolean
gst_spdl_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);
  GstBaseSinkClass *base = get_base (self);

  gst_caps_replace (&self->caps, caps);
  return base->set_caps ? base->set_caps (sink, caps) : TRUE;
}

/* Number of pulled items, in addition to max-buffers, that may not have been
 * recorded yet by the pulling threads. If more items wait, the application
 * pulls with functions of appsink that do not call the subclass, and there is
 * no state to keep. */
#define MAX_IN_HANDS 64

static void
check_pulls (GstSpdlSink *self)
{
  const guint max = gst_app_sink_get_max_buffers (GST_APP_SINK (self));

  if (max > 0 && self->tracker.n_items_waiting > max + MAX_IN_HANDS)
    spdl_progress_tracker_reset (&self->tracker);
}

/* Ends the stream with an error if there is one. The next buffer from upstream
 * is refused with GST_FLOW_EOS.
 *
 * @error: (transfer full) (nullable): why nothing arrived */
static void
fail_pulls (GstSpdlSink *self, GError *error)
{
  if (error && !self->has_ended) {
    self->has_ended = TRUE;
    gst_spdl_post_error (GST_ELEMENT (self), error);
  }
  g_clear_error (&error);
}

/* Tracks an event. Returns TRUE if the event must not be passed on, because
 * only the tracker uses it. */
static gboolean
handle_event (GstSpdlSink *self, GstEvent *event)
{
  gboolean ours, is_epoch, is_end, has_conflict;
  gchar *state = NULL;
  guint64 epoch;

  is_epoch = gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL);
  is_end = is_epoch && self->is_loader_sink &&
           !gst_spdl_event_is_partial_epoch (event);
  spdl_mutex_lock (&self->trackers_lock);
  if (is_epoch)
    check_pulls (self);
  has_conflict = self->tracker.has_conflict;
  ours = spdl_progress_tracker_handle_event (&self->tracker, event);
  has_conflict = !has_conflict && self->tracker.has_conflict;
  if (is_end)
    state = spdl_progress_tracker_dup_end_state (&self->tracker);
  spdl_mutex_unlock (&self->trackers_lock);
  if (has_conflict)
    warn_of_conflict (self);
  spdl_outcome_add_event (&self->outcome, event);
  fail_pulls (self, spdl_outcome_end_epoch (&self->outcome, event));
  /* After an error the epoch would seem complete. */
  if (is_end && !self->has_ended)
    spdl_sink_queue_add_epoch (&self->queue, epoch, state);
  else
    g_free (state);
  return ours;
}

static void
note_flush (GstSpdlSink *self)
{
  spdl_mutex_lock (&self->stats->lock);
  gst_spdl_sink_set_waiting (self, 0, spdl_meter_now (&self->stats->meter));
  self->stats->meter.last_pull = 0;
  spdl_mutex_unlock (&self->stats->lock);
  spdl_mutex_lock (&self->trackers_lock);
  spdl_progress_tracker_flush (&self->tracker);
  spdl_mutex_unlock (&self->trackers_lock);
  spdl_sink_queue_reset (&self->queue);
  spdl_outcome_flush (&self->outcome);
  self->has_ended = FALSE;
}

static gboolean
gst_spdl_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);

  /* Appsink would queue these events for the application without limit. */
  if (handle_event (self, event)) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    note_flush (self);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    fail_pulls (self, spdl_outcome_end_stream (&self->outcome));
    spdl_sink_queue_add_eos (&self->queue);
  }
  return get_base (self)->event (sink, event);
}

/* Waits of appsink
 *
 * Appsink waits for room, and for the application at the end of the stream,
 * with the preroll lock held. It releases the lock only while it is asked to
 * unlock, which GstBaseSink does before it takes the lock for a flush or for
 * PAUSED, but not for PLAYING. In GstBaseSink, the first buffer commits the
 * state that is pending. Without preroll (`async=false`), this may be PLAYING
 * before change_state() has the lock. If appsink is full by then, both threads
 * would wait forever: one for the lock, the other for a pull. */

/* Asks appsink to leave its waits. It has one flag, which the end of the first
 * of two requests would clear, so they are counted here. */
static gboolean
gst_spdl_sink_unlock (GstBaseSink *sink)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);
  gboolean ok = TRUE;

  spdl_mutex_lock (&self->unlock_lock);
  if (self->n_unlocks++ == 0)
    ok = GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class)->unlock (sink);
  spdl_mutex_unlock (&self->unlock_lock);
  return ok;
}

/* Preroll lock held. */
static gboolean
gst_spdl_sink_unlock_stop (GstBaseSink *sink)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);
  gboolean ok = TRUE;

  spdl_mutex_lock (&self->unlock_lock);
  if (self->n_unlocks > 0 && --self->n_unlocks == 0)
    ok = GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class)->unlock_stop (sink);
  spdl_mutex_unlock (&self->unlock_lock);
  return ok;
}

/* The change to PLAYING. In between, a streaming thread that finds appsink full
 * waits in gst_base_sink_wait_preroll(), which releases the lock. */
static GstStateChangeReturn
set_playing (GstElement *element)
{
  GstBaseSink *sink = GST_BASE_SINK (element);
  GstStateChangeReturn ret;

  gst_spdl_sink_unlock (sink);
  ret = GST_ELEMENT_CLASS (gst_spdl_sink_parent_class)
            ->change_state (element, GST_STATE_CHANGE_PAUSED_TO_PLAYING);
  GST_BASE_SINK_PREROLL_LOCK (sink);
  gst_spdl_sink_unlock_stop (sink);
  GST_BASE_SINK_PREROLL_SIGNAL (sink);
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  return ret;
}

/* A drain also waits for the application, but does not hold the lock, which
 * gst_base_sink_wait_preroll() needs when appsink is asked to unlock. */
static gboolean
gst_spdl_sink_query (GstBaseSink *sink, GstQuery *query)
{
  GstBaseSinkClass *parent = GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class);
  gboolean ok;

  if (GST_QUERY_TYPE (query) != GST_QUERY_DRAIN)
    return parent->query (sink, query);
  GST_BASE_SINK_PREROLL_LOCK (sink);
  ok = !sink->flushing && parent->query (sink, query);
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  return ok;
}

static void
gst_spdl_sink_init_intake (GstBaseSinkClass *base_class)
{
  base_class->set_caps = gst_spdl_sink_set_caps;
  base_class->preroll = gst_spdl_sink_preroll;
  base_class->render = gst_spdl_sink_render;
  base_class->render_list = gst_spdl_sink_render_list;
  base_class->event = gst_spdl_sink_event;
  base_class->unlock = gst_spdl_sink_unlock;
  base_class->unlock_stop = gst_spdl_sink_unlock_stop;
  base_class->query = gst_spdl_sink_query;
}

/* Output */

static void
add_latency (GstSpdlSink *self, const GstSpdlItemMeta *item, guint64 now)
{
  if (GST_CLOCK_TIME_IS_VALID (item->created) && now > item->created)
    spdl_histogram_add (
        &self->stats->meter.interval.latency, now - item->created);
}

static void
add_latencies (GstSpdlSink *self, GstBuffer *buffer, guint64 now)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  /* Replayed batches would add the age of the run. */
  if (gst_spdl_buffer_is_cached (buffer))
    return;
  if (batch)
    for (guint i = 0; i < batch->num_items; i++)
      add_latency (self, &batch->items[i], now);
  else if (item)
    add_latency (self, item, now);
}

/* Records a pull from @before to now that returned @buffer. */
static void
pulled_buffer (GstSpdlSink *self, GstBuffer *buffer, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&self->trackers_lock);
  spdl_progress_tracker_pull (&self->tracker, buffer);
  spdl_mutex_unlock (&self->trackers_lock);
  spdl_mutex_lock (&stats->lock);
  const guint64 now = spdl_meter_now (&stats->meter);
  stats->fields |= GST_SPDL_FIELDS_GET | GST_SPDL_FIELDS_STEP |
                   GST_SPDL_FIELDS_OCCUPANCY | GST_SPDL_FIELDS_LATENCY;
  spdl_meter_pulled (&stats->meter, before, now);
  stats->meter.interval.bytes_out += gst_buffer_get_size (buffer);
  add_latencies (self, buffer, now);
  gst_spdl_sink_set_waiting (self, self->n_waiting - 1, now);
  spdl_mutex_unlock (&stats->lock);
}

/* Records a wait that timed out; the next call continues it. */
static void
note_wait (GstSpdlSink *self, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&stats->lock);
  spdl_meter_waited (&stats->meter, before, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* Records a pull that returned an end instead of a batch. */
static void
note_end (GstSpdlSink *self, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&stats->lock);
  spdl_meter_passed (&stats->meter, before, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* Records a pull. @sample: (nullable) */
static void
note_pull (GstSpdlSink *self, GstSample *sample, guint64 before)
{
  GstBuffer *buffer = sample ? gst_sample_get_buffer (sample) : NULL;

  if (buffer)
    pulled_buffer (self, buffer, before);
  else if (gst_app_sink_is_eos (GST_APP_SINK (self)))
    gst_spdl_plain_stats_finish (self->stats);
  else
    note_wait (self, before);
}

static GstAppSinkClass *
get_parent (void)
{
  return g_type_class_peek (GST_TYPE_APP_SINK);
}

static GstSample *
gst_spdl_sink_pull_sample (GstAppSink *sink)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  GstSample *sample = get_parent ()->pull_sample (sink);

  note_pull (self, sample, before);
  return sample;
}

static GstSample *
gst_spdl_sink_try_pull_sample (GstAppSink *sink, GstClockTime timeout)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  GstSample *sample = get_parent ()->try_pull_sample (sink, timeout);

  note_pull (self, sample, before);
  return sample;
}

/* Interface for loaders */

static void
gst_spdl_sink_set_open (GstSpdlLoaderSink *loader_sink, gboolean open)
{
  GstSpdlSink *self = GST_SPDL_SINK (loader_sink);

  self->is_loader_sink = open;
}

/* Wakes the streaming thread in wait_for_room(). With the lock, this thread
 * waits already or will see the room. It takes the lock when it wakes, so
 * signalling without it saves another wake-up. */
static void
signal_room (GstBaseSink *sink)
{
  GST_BASE_SINK_PREROLL_LOCK (sink);
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  GST_BASE_SINK_PREROLL_SIGNAL (sink);
}

static gboolean
gst_spdl_sink_wait (
    GstSpdlLoaderSink *loader_sink, GstClockTime timeout, guint wakes)
{
  GstSpdlSink *self = GST_SPDL_SINK (loader_sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  const gboolean any = spdl_sink_queue_wait (&self->queue, timeout, wakes);

  if (timeout > 0)
    note_wait (self, before);
  return any;
}

static GstSpdlPullStatus
gst_spdl_sink_pull (
    GstSpdlLoaderSink *loader_sink, GstClockTime timeout, GstSpdlPull *pull)
{
  static const GstSpdlPullStatus statuses[] = {
    [SPDL_SINK_QUEUE_RESULT_NOTHING] = GST_SPDL_PULL_TIMEOUT,
    [SPDL_SINK_QUEUE_RESULT_WAKE] = GST_SPDL_PULL_WOKEN,
    [SPDL_SINK_QUEUE_RESULT_BUFFER] = GST_SPDL_PULL_BUFFER,
    [SPDL_SINK_QUEUE_RESULT_EPOCH] = GST_SPDL_PULL_EPOCH,
    [SPDL_SINK_QUEUE_RESULT_EOS] = GST_SPDL_PULL_EOS,
  };
  GstSpdlSink *self = GST_SPDL_SINK (loader_sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  SpdlSinkItem sink_item = { NULL };
  gboolean made_room;
  const SpdlSinkQueueResult arrived = spdl_sink_queue_take (
      &self->queue, timeout, &pull->wakes, &sink_item, &made_room);

  if (made_room)
    signal_room (GST_BASE_SINK (self));
  if (arrived == SPDL_SINK_QUEUE_RESULT_BUFFER)
    pulled_buffer (self, sink_item.buffer, before);
  else if (arrived == SPDL_SINK_QUEUE_RESULT_EOS)
    gst_spdl_plain_stats_finish (self->stats);
  else if (arrived == SPDL_SINK_QUEUE_RESULT_EPOCH) {
    spdl_mutex_lock (&self->trackers_lock);
    spdl_progress_tracker_pull_end (&self->tracker, sink_item.state);
    spdl_mutex_unlock (&self->trackers_lock);
  }
  if (arrived == SPDL_SINK_QUEUE_RESULT_EPOCH)
    note_end (self, before);
  else if (arrived != SPDL_SINK_QUEUE_RESULT_BUFFER)
    note_wait (self, before);
  pull->buffer = sink_item.buffer;
  pull->caps = sink_item.caps;
  pull->exclusive = sink_item.exclusive;
  pull->epoch = sink_item.epoch;
  return statuses[arrived];
}

static void
gst_spdl_sink_wake (GstSpdlLoaderSink *loader_sink)
{
  spdl_sink_queue_wake (&GST_SPDL_SINK (loader_sink)->queue);
}

static void
gst_spdl_sink_get_sources (
    GstSpdlLoaderSink *loader_sink, GstSpdlSources *sources)
{
  GstSpdlSink *self = GST_SPDL_SINK (loader_sink);

  spdl_mutex_lock (&self->trackers_lock);
  sources->n = spdl_progress_tracker_count_sources (&self->tracker);
  sources->in_step =
      spdl_progress_tracker_get_first_epoch (&self->tracker, &sources->epoch);
  spdl_mutex_unlock (&self->trackers_lock);
}

static gchar *
gst_spdl_sink_dup_epoch_state (GstSpdlLoaderSink *loader_sink, guint64 epoch)
{
  GstSpdlSink *self = GST_SPDL_SINK (loader_sink);
  gchar *state;

  spdl_mutex_lock (&self->trackers_lock);
  state = spdl_progress_tracker_dup_epoch_state (&self->tracker, epoch);
  spdl_mutex_unlock (&self->trackers_lock);
  return state;
}

static void
gst_spdl_sink_loader_sink_init (GstSpdlLoaderSinkInterface *iface)
{
  iface->set_open = gst_spdl_sink_set_open;
  iface->wait = gst_spdl_sink_wait;
  iface->pull = gst_spdl_sink_pull;
  iface->wake = gst_spdl_sink_wake;
  iface->get_sources = gst_spdl_sink_get_sources;
  iface->dup_epoch_state = gst_spdl_sink_dup_epoch_state;
}

static void
gst_spdl_sink_init_pulls (GstAppSinkClass *app_class)
{
  app_class->pull_sample = gst_spdl_sink_pull_sample;
  app_class->try_pull_sample = gst_spdl_sink_try_pull_sample;
}

/* Warns that gst-launch-1.0 does not pull from an appsink. */
static void
warn_of_gst_launch (GstSpdlSink *self)
{
  const gchar *program = g_get_prgname ();
  GstAppSink *sink = GST_APP_SINK (self);
  const guint max = gst_app_sink_get_max_buffers (sink);

  if (program && g_str_has_prefix (program, "gst-launch") && max > 0 &&
      !gst_app_sink_get_drop (sink))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("%s takes no batches from spdlsink, so the pipeline stalls when %u "
         "are queued: end the pipeline with fakesink, or run it with "
         "gst-spdl-launch-1.0",
            program, max),
        (NULL));
}

/* Forgets the last run. */
static void
reset_run (GstSpdlSink *self)
{
  spdl_mutex_lock (&self->trackers_lock);
  spdl_progress_tracker_reset (&self->tracker);
  self->warned = FALSE;
  spdl_outcome_reset (&self->outcome);
  self->has_ended = FALSE;
  spdl_mutex_unlock (&self->trackers_lock);
}

/* Drops the batches and the end of the last run, which appsink keeps until
 * NULL: they would arrive in a run that starts from READY. */
static void
drop_queued (GstSpdlSink *self)
{
  GstBaseSinkClass *app_class =
      GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class);
  gboolean waiting;

  spdl_mutex_lock (&self->stats->lock);
  waiting = self->n_waiting > 0;
  spdl_mutex_unlock (&self->stats->lock);
  /* Not without need: a pull that waits for the first batch would return
   * NULL. */
  if (waiting || gst_app_sink_is_eos (GST_APP_SINK (self))) {
    app_class->stop (GST_BASE_SINK (self));
    app_class->start (GST_BASE_SINK (self));
  }
  spdl_sink_queue_reset (&self->queue);
  spdl_mutex_lock (&self->stats->lock);
  gst_spdl_sink_set_waiting (self, 0, spdl_meter_now (&self->stats->meter));
  self->stats->meter.last_pull = 0;
  spdl_mutex_unlock (&self->stats->lock);
}

static gboolean
gst_spdl_sink_start (GstBaseSink *sink)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);

  reset_run (self);
  spdl_mutex_lock (&self->stats->lock);
  self->stats->fields = GST_SPDL_FIELDS_BATCHES | GST_SPDL_FIELDS_PUT;
  spdl_mutex_unlock (&self->stats->lock);
  gst_spdl_plain_stats_start (self->stats);
  warn_of_gst_launch (self);
  return GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class)->start (sink);
}

static gboolean
gst_spdl_sink_stop (GstBaseSink *sink)
{
  GstSpdlSink *self = GST_SPDL_SINK (sink);

  gst_spdl_plain_stats_stop (self->stats);
  spdl_sink_queue_reset (&self->queue);
  gst_clear_caps (&self->caps);
  return GST_BASE_SINK_CLASS (gst_spdl_sink_parent_class)->stop (sink);
}

static GstStateChangeReturn
gst_spdl_sink_change_state (GstElement *element, GstStateChange transition)
{
  GstSpdlSink *self = GST_SPDL_SINK (element);

  /* The state of the last run can be read until here. */
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    drop_queued (self);
    reset_run (self);
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    return set_playing (element);
  return GST_ELEMENT_CLASS (gst_spdl_sink_parent_class)
      ->change_state (element, transition);
}

static void
gst_spdl_sink_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlSink *self = GST_SPDL_SINK (object);

  switch (id) {
    case PROP_MAX_GAPS:
      spdl_mutex_lock (&self->trackers_lock);
      self->tracker.max_gaps = g_value_get_uint (value);
      spdl_mutex_unlock (&self->trackers_lock);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_set_interval (self->stats, value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_sink_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlSink *self = GST_SPDL_SINK (object);

  switch (id) {
    case PROP_RESUME_STATE:
      spdl_mutex_lock (&self->trackers_lock);
      g_value_take_string (
          value, spdl_progress_tracker_dup_state (&self->tracker));
      spdl_mutex_unlock (&self->trackers_lock);
      break;
    case PROP_MAX_GAPS:
      spdl_mutex_lock (&self->trackers_lock);
      g_value_set_uint (value, self->tracker.max_gaps);
      spdl_mutex_unlock (&self->trackers_lock);
      break;
    case PROP_STATS_INTERVAL:
      gst_spdl_plain_stats_get_interval (self->stats, value);
      break;
    case PROP_STAGE_STATS:
      gst_spdl_plain_stats_get_stats (self->stats, value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_spdl_sink_finalize (GObject *object)
{
  GstSpdlSink *self = GST_SPDL_SINK (object);

  gst_clear_caps (&self->caps);
  spdl_sink_queue_clear (&self->queue);
  gst_spdl_plain_stats_free (self->stats);
  spdl_progress_tracker_clear (&self->tracker);
  spdl_outcome_clear (&self->outcome);
  spdl_mutex_clear (&self->unlock_lock);
  spdl_mutex_clear (&self->trackers_lock);
  G_OBJECT_CLASS (gst_spdl_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_RESUME_STATE,
      g_param_spec_string ("resume-state", "Resume state",
          "Resume state after the last batch that was pulled with the action "
          "signals",
          NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_MAX_GAPS,
      g_param_spec_uint ("max-gaps", "Maximum gaps",
          "Maximum number of gaps between the finished items of a source; "
          "batches after more gaps have no resume state",
          0, G_MAXUINT, DEFAULT_MAX_GAPS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  gst_spdl_install_stats_properties (object_class, PROP_STATS_INTERVAL);
}

static void
gst_spdl_sink_class_init (GstSpdlSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_spdl_sink_set_property;
  object_class->get_property = gst_spdl_sink_get_property;
  object_class->finalize = gst_spdl_sink_finalize;
  install_properties (object_class);

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Batch sink", "Sink", "Provides batches to a trainer, as an appsink",
      "the gst-spdl developers");
  GST_ELEMENT_CLASS (klass)->change_state = gst_spdl_sink_change_state;
  base_class->start = gst_spdl_sink_start;
  base_class->stop = gst_spdl_sink_stop;
  gst_spdl_sink_init_intake (base_class);
  gst_spdl_sink_init_pulls (GST_APP_SINK_CLASS (klass));
}

static void
gst_spdl_sink_init (GstSpdlSink *self)
{
  self->stats = gst_spdl_plain_stats_new (GST_ELEMENT (self), 0);
  spdl_sink_queue_init (&self->queue);
  spdl_mutex_init (&self->trackers_lock);
  spdl_mutex_init (&self->unlock_lock);
  spdl_progress_tracker_init (&self->tracker);
  spdl_outcome_init (&self->outcome);
  self->tracker.max_gaps = DEFAULT_MAX_GAPS;
  g_object_set (
      self, "sync", FALSE, "enable-last-sample", FALSE, "max-buffers", 2, NULL);
}
