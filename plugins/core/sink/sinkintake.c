/* gst-spdl: what comes to spdlsink down the stream
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/cached.h"
#include "plugins/core/sink/sink-private.h"

#include "gst/spdl/common/epochs.h"
#include "gst/spdl/stage/gone.h"

static guint
count_items (GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  return batch ? batch->num_items : 1;
}

/* Without the tallies' lock, once. */
static void
warn_of_gaps (GstSpdlSinkElement *self, guint max_gaps)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("More than %u gaps lie between the items that came: items are lost on "
       "the way without a word, or the stages hold very many. Until the gaps "
       "are fewer, batches have no resume state (see max-gaps)",
          max_gaps),
      (NULL));
}

/* Counts a batch or an item, and gives a batch its state. Returns what is to be
 * delivered (transfer full): a copy, if others refer to @buffer too. */
static GstBuffer *
take_in (GstSpdlSinkElement *self, GstBuffer *buffer)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GstBuffer *own;
  gchar *state = NULL;
  gboolean warn;
  guint max_gaps;

  spdl_mutex_lock (&self->tallies_lock);
  if (batch)
    state = spdl_tallies_add_batch (
        &self->tallies, batch, gst_spdl_buffer_is_cached (buffer));
  else
    spdl_tallies_add_item (&self->tallies);
  max_gaps = self->tallies.max_gaps;
  warn =
      !state && !self->warned && spdl_tallies_is_full_of_gaps (&self->tallies);
  self->warned |= warn;
  spdl_mutex_unlock (&self->tallies_lock);
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

/* The class whose functions are called on: GstBaseSink's where appsink is
 * passed by. */
static GstBaseSinkClass *
get_base (GstSpdlSinkElement *self)
{
  return g_type_class_peek (
      self->is_outlet ? GST_TYPE_BASE_SINK : GST_TYPE_APP_SINK);
}

static void
drop_oldest (GstSpdlSinkElement *self)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_arrivals_drop (&self->arrivals);
  spdl_mutex_lock (&stats->lock);
  gst_spdl_sink_element_set_waiting (
      self, self->n_waiting - 1, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* Room for a loader's buffer. Waits on the preroll's condition, which leaves
 * its lock to changes of state: in appsink's own way PLAYING may wait for this,
 * and this for a first pull. */
static GstFlowReturn
wait_for_room (GstSpdlSinkElement *self)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  const guint max = gst_app_sink_get_max_buffers (GST_APP_SINK (self));

  while (!spdl_arrivals_has_room (&self->arrivals, max)) {
    if (sink->flushing)
      return GST_FLOW_FLUSHING;
    if (gst_app_sink_get_drop (GST_APP_SINK (self)))
      drop_oldest (self);
    else
      GST_BASE_SINK_PREROLL_WAIT (sink);
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
deliver (GstSpdlSinkElement *self, GstBuffer *buffer, gboolean exclusive)
{
  GstFlowReturn ret;

  if (!self->is_outlet)
    return get_base (self)->render (GST_BASE_SINK (self), buffer);
  ret = wait_for_room (self);
  if (ret == GST_FLOW_OK)
    spdl_arrivals_add_buffer (&self->arrivals, buffer, self->caps, exclusive);
  return ret;
}

/* @exclusive: the stream has the only reference to @buffer. That can be said
 * here, but no more when it is pulled. */
static GstFlowReturn
render (GstSpdlSinkElement *self, GstBuffer *buffer, gboolean exclusive)
{
  GstSpdlPlainStats *stats = self->stats;
  const guint n_items = count_items (buffer);
  const gboolean is_batch = gst_spdl_buffer_get_batch_meta (buffer) != NULL;
  const gsize bytes = gst_buffer_get_size (buffer);
  g_autoptr (GstBuffer) own = take_in (self, buffer);
  const guint64 before = spdl_meter_now (&stats->meter);
  self->outcome.arrived = TRUE;
  const GstFlowReturn ret =
      self->has_ended ? GST_FLOW_EOS : deliver (self, own, exclusive);

  if (ret != GST_FLOW_OK)
    return ret;
  spdl_mutex_lock (&stats->lock);
  const guint64 now = spdl_meter_now (&stats->meter);
  spdl_histogram_add (&stats->meter.lap.put_time, now - before);
  stats->meter.lap.items += n_items;
  stats->meter.lap.batches += is_batch;
  stats->meter.lap.bytes_in += bytes;
  gst_spdl_sink_element_set_waiting (self, self->n_waiting + 1, now);
  spdl_mutex_unlock (&stats->lock);
  return ret;
}

static GstFlowReturn
gst_spdl_sink_element_render (GstBaseSink *sink, GstBuffer *buffer)
{
  return render (
      GST_SPDL_SINK_ELEMENT (sink), buffer, gst_buffer_is_writable (buffer));
}

static GstFlowReturn
gst_spdl_sink_element_render_list (GstBaseSink *sink, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  const gboolean exclusive = gst_buffer_list_is_writable (list);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    GstBuffer *buffer = gst_buffer_list_get (list, i);

    ret = render (GST_SPDL_SINK_ELEMENT (sink), buffer,
        exclusive && GST_MINI_OBJECT_REFCOUNT_VALUE (buffer) == 1);
  }
  return ret;
}

/* Appsink would keep the buffer. */
static GstFlowReturn
gst_spdl_sink_element_preroll (GstBaseSink *sink, GstBuffer *buffer)
{
  GstBaseSinkClass *base = get_base (GST_SPDL_SINK_ELEMENT (sink));

  return base->preroll ? base->preroll (sink, buffer) : GST_FLOW_OK;
}

/* Appsink would queue them. */
static gboolean
gst_spdl_sink_element_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);
  GstBaseSinkClass *base = get_base (self);

  gst_caps_replace (&self->caps, caps);
  return base->set_caps ? base->set_caps (sink, caps) : TRUE;
}

/* More than can be waiting, and in the hands of threads that just pulled them:
 * items are pulled by appsink's functions, which tell the subclass nothing.
 * Then there is no state to keep. */
#define MAX_IN_HANDS 64

static void
check_pulls (GstSpdlSinkElement *self)
{
  const guint max = gst_app_sink_get_max_buffers (GST_APP_SINK (self));

  if (max > 0 && self->tallies.n_items_waiting > max + MAX_IN_HANDS)
    spdl_tallies_reset (&self->tallies);
}

/* @error: (transfer full) (nullable): why nothing arrived. Upstream hears of
 * the end with its next buffer. */
static void
fail (GstSpdlSinkElement *self, GError *error)
{
  if (error && !self->has_ended) {
    self->has_ended = TRUE;
    gst_spdl_post_error (GST_ELEMENT (self), error);
  }
  g_clear_error (&error);
}

static gboolean
handle_event (GstSpdlSinkElement *self, GstEvent *event)
{
  gboolean ours, is_epoch;
  guint64 epoch;

  is_epoch = gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL);
  spdl_mutex_lock (&self->tallies_lock);
  if (is_epoch)
    check_pulls (self);
  ours = spdl_tallies_handle_event (&self->tallies, event);
  spdl_mutex_unlock (&self->tallies_lock);
  spdl_outcome_add_event (&self->outcome, event);
  fail (self, spdl_outcome_end_epoch (&self->outcome, event));
  /* After an error it would look like a good end. */
  if (is_epoch && self->is_outlet && !self->has_ended &&
      !gst_spdl_event_is_within_epoch (event))
    spdl_arrivals_add_epoch (&self->arrivals, epoch);
  return ours;
}

static void
flushed (GstSpdlSinkElement *self)
{
  spdl_mutex_lock (&self->stats->lock);
  gst_spdl_sink_element_set_waiting (
      self, 0, spdl_meter_now (&self->stats->meter));
  self->stats->meter.last_pull = 0;
  spdl_mutex_unlock (&self->stats->lock);
  spdl_mutex_lock (&self->tallies_lock);
  spdl_tallies_flush (&self->tallies);
  spdl_mutex_unlock (&self->tallies_lock);
  spdl_arrivals_reset (&self->arrivals);
  spdl_outcome_flush (&self->outcome);
  self->has_ended = FALSE;
}

static gboolean
gst_spdl_sink_element_event (GstBaseSink *sink, GstEvent *event)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);

  /* Appsink would queue them for the application, without bound. */
  if (handle_event (self, event)) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    flushed (self);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    fail (self, spdl_outcome_end_stream (&self->outcome));
    spdl_arrivals_add_eos (&self->arrivals);
  }
  return get_base (self)->event (sink, event);
}

void
gst_spdl_sink_element_init_intake (GstBaseSinkClass *base_class)
{
  base_class->set_caps = gst_spdl_sink_element_set_caps;
  base_class->preroll = gst_spdl_sink_element_preroll;
  base_class->render = gst_spdl_sink_element_render;
  base_class->render_list = gst_spdl_sink_element_render_list;
  base_class->event = gst_spdl_sink_element_event;
}
