/* gst-spdl: queue of batches and ends of epochs in spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/sink/sinkqueue.h"

static void
free_arrival (gpointer data)
{
  SpdlSinkItem *sink_item = data;

  gst_clear_buffer (&sink_item->buffer);
  gst_clear_caps (&sink_item->caps);
  g_free (sink_item->state);
  g_free (sink_item);
}

void
spdl_sink_queue_init (SpdlSinkQueue *self)
{
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->arrived);
  g_queue_init (&self->queue);
  self->n_buffers = self->n_wakes = 0;
  self->next_epoch = 0;
  self->eos = self->is_full = FALSE;
}

void
spdl_sink_queue_clear (SpdlSinkQueue *self)
{
  g_queue_clear_full (&self->queue, free_arrival);
  spdl_cond_clear (&self->arrived);
  spdl_mutex_clear (&self->lock);
}

void
spdl_sink_queue_reset (SpdlSinkQueue *self)
{
  GQueue old;

  spdl_mutex_lock (&self->lock);
  old = self->queue;
  g_queue_init (&self->queue);
  self->n_buffers = 0;
  self->next_epoch = 0;
  self->eos = FALSE;
  spdl_mutex_unlock (&self->lock);
  g_queue_clear_full (&old, free_arrival);
}

gboolean
spdl_sink_queue_has_room (SpdlSinkQueue *self, guint max)
{
  gboolean full;

  spdl_mutex_lock (&self->lock);
  full = max > 0 && self->n_buffers >= max;
  self->is_full = full;
  spdl_mutex_unlock (&self->lock);
  return !full;
}

static gint
compare_is_buffer (gconstpointer sink_item, gconstpointer unused)
{
  return ((const SpdlSinkItem *) sink_item)->buffer ? 0 : 1;
}

/* Lock held. Removes a buffer. Returns its entry (transfer full). */
static SpdlSinkItem *
unlink_arrival (SpdlSinkQueue *self, GList *link)
{
  SpdlSinkItem *sink_item = link->data;
  SpdlSinkItem *before = link->prev ? link->prev->data : NULL;

  /* Merge ends of epochs that are adjacent now. */
  if (before && link->next && !((SpdlSinkItem *) link->next->data)->buffer) {
    before->n_epochs += ((SpdlSinkItem *) link->next->data)->n_epochs;
    g_free (before->state);
    before->state =
        g_steal_pointer (&((SpdlSinkItem *) link->next->data)->state);
    free_arrival (link->next->data);
    g_queue_delete_link (&self->queue, link->next);
  }
  g_queue_delete_link (&self->queue, link);
  self->n_buffers--;
  return sink_item;
}

void
spdl_sink_queue_drop (SpdlSinkQueue *self)
{
  SpdlSinkItem *oldest = NULL;
  GList *link;

  spdl_mutex_lock (&self->lock);
  link = g_queue_find_custom (&self->queue, NULL, compare_is_buffer);
  if (link)
    oldest = unlink_arrival (self, link);
  spdl_mutex_unlock (&self->lock);
  if (oldest)
    free_arrival (oldest);
}

void
spdl_sink_queue_add_buffer (
    SpdlSinkQueue *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive)
{
  SpdlSinkItem *sink_item = g_new0 (SpdlSinkItem, 1);

  sink_item->buffer = gst_buffer_ref (buffer);
  sink_item->caps = caps ? gst_caps_ref (caps) : NULL;
  sink_item->exclusive = exclusive;
  spdl_mutex_lock (&self->lock);
  g_queue_push_tail (&self->queue, sink_item);
  self->n_buffers++;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_sink_queue_add_epoch (SpdlSinkQueue *self, guint64 epoch, gchar *state)
{
  SpdlSinkItem *last;

  spdl_mutex_lock (&self->lock);
  last = g_queue_peek_tail (&self->queue);
  if (epoch >= self->next_epoch) {
    self->next_epoch = epoch + 1;
    if (!last || last->buffer) {
      last = g_new0 (SpdlSinkItem, 1);
      last->epoch = epoch;
      g_queue_push_tail (&self->queue, last);
    }
    last->n_epochs++;
    spdl_cond_signal (&self->arrived);
  }
  /* Another source may end the same epoch later. */
  if (last && !last->buffer && state) {
    g_free (last->state);
    last->state = g_steal_pointer (&state);
  }
  spdl_mutex_unlock (&self->lock);
  g_free (state);
}

void
spdl_sink_queue_add_eos (SpdlSinkQueue *self)
{
  spdl_mutex_lock (&self->lock);
  self->eos = TRUE;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}

/* Lock held. Takes the first entry without waiting. */
static SpdlSinkQueueResult
take_first (SpdlSinkQueue *self, SpdlSinkItem *sink_item)
{
  SpdlSinkItem *first = g_queue_peek_head (&self->queue);

  if (!first)
    return self->eos ? SPDL_SINK_QUEUE_RESULT_EOS
                     : SPDL_SINK_QUEUE_RESULT_NOTHING;
  *sink_item = *first;
  if (first->buffer) {
    self->n_buffers--;
  } else if (--first->n_epochs > 0) {
    first->epoch++;
    sink_item->state = NULL;
    return SPDL_SINK_QUEUE_RESULT_EPOCH;
  }
  g_free (g_queue_pop_head (&self->queue));
  return sink_item->buffer ? SPDL_SINK_QUEUE_RESULT_BUFFER
                           : SPDL_SINK_QUEUE_RESULT_EPOCH;
}

/* Lock held. Waits for an entry, the end of the stream or a wake-up. Returns
 * FALSE if none occurs within @timeout ns. */
static gboolean
wait_for_any (SpdlSinkQueue *self, GstClockTime timeout, guint wakes)
{
  const GstClockTime begun = gst_util_get_timestamp ();

  while (
      g_queue_is_empty (&self->queue) && !self->eos && wakes == self->n_wakes) {
    const GstClockTime waited = gst_util_get_timestamp () - begun;

    if (waited >= timeout)
      return FALSE;
    if (timeout == GST_CLOCK_TIME_NONE)
      spdl_cond_wait (&self->arrived, &self->lock);
    else
      spdl_cond_wait_for (&self->arrived, &self->lock, timeout - waited);
  }
  return TRUE;
}

gboolean
spdl_sink_queue_wait (SpdlSinkQueue *self, GstClockTime timeout, guint wakes)
{
  gboolean any;

  spdl_mutex_lock (&self->lock);
  any = wait_for_any (self, timeout, wakes);
  spdl_mutex_unlock (&self->lock);
  return any;
}

SpdlSinkQueueResult
spdl_sink_queue_take (SpdlSinkQueue *self, GstClockTime timeout, guint *wakes,
    SpdlSinkItem *sink_item, gboolean *made_room)
{
  SpdlSinkQueueResult arrived;

  spdl_mutex_lock (&self->lock);
  wait_for_any (self, timeout, *wakes);
  arrived = take_first (self, sink_item);
  if (arrived == SPDL_SINK_QUEUE_RESULT_NOTHING && *wakes != self->n_wakes)
    arrived = SPDL_SINK_QUEUE_RESULT_WAKE;
  *wakes = self->n_wakes;
  *made_room = arrived == SPDL_SINK_QUEUE_RESULT_BUFFER && self->is_full;
  if (*made_room)
    self->is_full = FALSE;
  spdl_mutex_unlock (&self->lock);
  return arrived;
}

void
spdl_sink_queue_wake (SpdlSinkQueue *self)
{
  spdl_mutex_lock (&self->lock);
  self->n_wakes++;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}
