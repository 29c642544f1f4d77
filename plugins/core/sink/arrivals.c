/* gst-spdl: what has come to the sink, for a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/sink/arrivals.h"

static void
free_arrival (gpointer data)
{
  SpdlArrival *arrival = data;

  gst_clear_buffer (&arrival->buffer);
  gst_clear_caps (&arrival->caps);
  g_free (arrival);
}

void
spdl_arrivals_init (SpdlArrivals *self)
{
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->arrived);
  g_queue_init (&self->queue);
  self->n_buffers = self->n_wakes = 0;
  self->next_epoch = 0;
  self->eos = self->is_full = FALSE;
}

void
spdl_arrivals_clear (SpdlArrivals *self)
{
  g_queue_clear_full (&self->queue, free_arrival);
  spdl_cond_clear (&self->arrived);
  spdl_mutex_clear (&self->lock);
}

void
spdl_arrivals_reset (SpdlArrivals *self)
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
spdl_arrivals_has_room (SpdlArrivals *self, guint max)
{
  gboolean full;

  spdl_mutex_lock (&self->lock);
  full = max > 0 && self->n_buffers >= max;
  self->is_full = full;
  spdl_mutex_unlock (&self->lock);
  return !full;
}

static gint
compare_is_buffer (gconstpointer arrival, gconstpointer unused)
{
  return ((const SpdlArrival *) arrival)->buffer ? 0 : 1;
}

/* Lock held. */
static SpdlArrival *
unlink_arrival (SpdlArrivals *self, GList *link)
{
  SpdlArrival *arrival = link->data;
  SpdlArrival *before = link->prev ? link->prev->data : NULL;

  /* Ends of epochs that have nothing between them now. */
  if (before && link->next && !((SpdlArrival *) link->next->data)->buffer) {
    before->n_epochs += ((SpdlArrival *) link->next->data)->n_epochs;
    free_arrival (link->next->data);
    g_queue_delete_link (&self->queue, link->next);
  }
  g_queue_delete_link (&self->queue, link);
  self->n_buffers--;
  return arrival;
}

void
spdl_arrivals_drop (SpdlArrivals *self)
{
  SpdlArrival *oldest = NULL;
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
spdl_arrivals_add_buffer (
    SpdlArrivals *self, GstBuffer *buffer, GstCaps *caps, gboolean exclusive)
{
  SpdlArrival *arrival = g_new0 (SpdlArrival, 1);

  arrival->buffer = gst_buffer_ref (buffer);
  arrival->caps = caps ? gst_caps_ref (caps) : NULL;
  arrival->exclusive = exclusive;
  spdl_mutex_lock (&self->lock);
  g_queue_push_tail (&self->queue, arrival);
  self->n_buffers++;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_arrivals_add_epoch (SpdlArrivals *self, guint64 epoch)
{
  SpdlArrival *last;

  spdl_mutex_lock (&self->lock);
  if (epoch >= self->next_epoch) {
    self->next_epoch = epoch + 1;
    last = g_queue_peek_tail (&self->queue);
    if (!last || last->buffer) {
      last = g_new0 (SpdlArrival, 1);
      last->epoch = epoch;
      g_queue_push_tail (&self->queue, last);
    }
    last->n_epochs++;
    spdl_cond_signal (&self->arrived);
  }
  spdl_mutex_unlock (&self->lock);
}

void
spdl_arrivals_add_eos (SpdlArrivals *self)
{
  spdl_mutex_lock (&self->lock);
  self->eos = TRUE;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}

/* Lock held. */
static SpdlArrived
take_first (SpdlArrivals *self, SpdlArrival *arrival)
{
  SpdlArrival *first = g_queue_peek_head (&self->queue);

  if (!first)
    return self->eos ? SPDL_ARRIVED_EOS : SPDL_ARRIVED_NOTHING;
  *arrival = *first;
  if (first->buffer) {
    self->n_buffers--;
  } else if (--first->n_epochs > 0) {
    first->epoch++;
    return SPDL_ARRIVED_EPOCH;
  }
  g_free (g_queue_pop_head (&self->queue));
  return arrival->buffer ? SPDL_ARRIVED_BUFFER : SPDL_ARRIVED_EPOCH;
}

/* Lock held. */
static gboolean
wait_for_any (SpdlArrivals *self, GstClockTime timeout, guint wakes)
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
spdl_arrivals_wait (SpdlArrivals *self, GstClockTime timeout, guint wakes)
{
  gboolean any;

  spdl_mutex_lock (&self->lock);
  any = wait_for_any (self, timeout, wakes);
  spdl_mutex_unlock (&self->lock);
  return any;
}

SpdlArrived
spdl_arrivals_take (SpdlArrivals *self, GstClockTime timeout, guint *wakes,
    SpdlArrival *arrival, gboolean *made_room)
{
  SpdlArrived arrived;

  spdl_mutex_lock (&self->lock);
  wait_for_any (self, timeout, *wakes);
  arrived = take_first (self, arrival);
  if (arrived == SPDL_ARRIVED_NOTHING && *wakes != self->n_wakes)
    arrived = SPDL_ARRIVED_WAKE;
  *wakes = self->n_wakes;
  *made_room = arrived == SPDL_ARRIVED_BUFFER && self->is_full;
  if (*made_room)
    self->is_full = FALSE;
  spdl_mutex_unlock (&self->lock);
  return arrived;
}

void
spdl_arrivals_wake (SpdlArrivals *self)
{
  spdl_mutex_lock (&self->lock);
  self->n_wakes++;
  spdl_cond_signal (&self->arrived);
  spdl_mutex_unlock (&self->lock);
}
