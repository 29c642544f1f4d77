/* gst-spdl: what is taken from spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/cached.h"
#include "plugins/core/sink/sink-private.h"

static void
add_latency (GstSpdlSinkElement *self, const GstSpdlItemMeta *item, guint64 now)
{
  if (GST_CLOCK_TIME_IS_VALID (item->created) && now > item->created)
    spdl_histogram_add (&self->stats->meter.lap.latency, now - item->created);
}

static void
add_latencies (GstSpdlSinkElement *self, GstBuffer *buffer, guint64 now)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  /* Their age would be the run's. */
  if (gst_spdl_buffer_is_cached (buffer))
    return;
  if (batch)
    for (guint i = 0; i < batch->num_items; i++)
      add_latency (self, &batch->items[i], now);
  else if (item)
    add_latency (self, item, now);
}

/* The trainer asked at @before and has @buffer now. */
static void
pulled_buffer (GstSpdlSinkElement *self, GstBuffer *buffer, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&self->tallies_lock);
  spdl_tallies_pull (&self->tallies, buffer);
  spdl_mutex_unlock (&self->tallies_lock);
  spdl_mutex_lock (&stats->lock);
  const guint64 now = spdl_meter_now (&stats->meter);
  stats->fields |= GST_SPDL_FIELDS_GET | GST_SPDL_FIELDS_STEP |
                   GST_SPDL_FIELDS_OCCUPANCY | GST_SPDL_FIELDS_LATENCY;
  spdl_meter_pulled (&stats->meter, before, now);
  stats->meter.lap.bytes_out += gst_buffer_get_size (buffer);
  add_latencies (self, buffer, now);
  gst_spdl_sink_element_set_waiting (self, self->n_waiting - 1, now);
  spdl_mutex_unlock (&stats->lock);
}

/* A wait that is broken off goes on with the next call. */
static void
note_wait (GstSpdlSinkElement *self, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&stats->lock);
  spdl_meter_waited (&stats->meter, before, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* No batch, but an end. */
static void
note_end (GstSpdlSinkElement *self, guint64 before)
{
  GstSpdlPlainStats *stats = self->stats;

  spdl_mutex_lock (&stats->lock);
  spdl_meter_passed (&stats->meter, before, spdl_meter_now (&stats->meter));
  spdl_mutex_unlock (&stats->lock);
}

/* @sample: (nullable): what came, if anything did */
static void
pulled (GstSpdlSinkElement *self, GstSample *sample, guint64 before)
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
gst_spdl_sink_element_pull_sample (GstAppSink *sink)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  GstSample *sample = get_parent ()->pull_sample (sink);

  pulled (self, sample, before);
  return sample;
}

static GstSample *
gst_spdl_sink_element_try_pull_sample (GstAppSink *sink, GstClockTime timeout)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (sink);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  GstSample *sample = get_parent ()->try_pull_sample (sink, timeout);

  pulled (self, sample, before);
  return sample;
}

/* A loader's way */

static void
gst_spdl_sink_element_set_open (GstSpdlOutlet *outlet, gboolean open)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (outlet);

  self->is_outlet = open;
}

static void
signal_room (GstBaseSink *sink)
{
  GST_BASE_SINK_PREROLL_LOCK (sink);
  GST_BASE_SINK_PREROLL_SIGNAL (sink);
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
}

static gboolean
gst_spdl_sink_element_wait (
    GstSpdlOutlet *outlet, GstClockTime timeout, guint wakes)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (outlet);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  const gboolean any = spdl_arrivals_wait (&self->arrivals, timeout, wakes);

  if (timeout > 0)
    note_wait (self, before);
  return any;
}

static GstSpdlPullStatus
gst_spdl_sink_element_pull (
    GstSpdlOutlet *outlet, GstClockTime timeout, GstSpdlPull *pull)
{
  static const GstSpdlPullStatus statuses[] = {
    [SPDL_ARRIVED_NOTHING] = GST_SPDL_PULL_TIMEOUT,
    [SPDL_ARRIVED_WAKE] = GST_SPDL_PULL_WOKEN,
    [SPDL_ARRIVED_BUFFER] = GST_SPDL_PULL_BUFFER,
    [SPDL_ARRIVED_EPOCH] = GST_SPDL_PULL_EPOCH,
    [SPDL_ARRIVED_EOS] = GST_SPDL_PULL_EOS,
  };
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (outlet);
  const guint64 before = spdl_meter_now (&self->stats->meter);
  SpdlArrival arrival = { NULL };
  gboolean made_room;
  const SpdlArrived arrived = spdl_arrivals_take (
      &self->arrivals, timeout, &pull->wakes, &arrival, &made_room);

  if (made_room)
    signal_room (GST_BASE_SINK (self));
  if (arrived == SPDL_ARRIVED_BUFFER)
    pulled_buffer (self, arrival.buffer, before);
  else if (arrived == SPDL_ARRIVED_EOS)
    gst_spdl_plain_stats_finish (self->stats);
  if (arrived == SPDL_ARRIVED_EPOCH)
    note_end (self, before);
  else if (arrived != SPDL_ARRIVED_BUFFER)
    note_wait (self, before);
  pull->buffer = arrival.buffer;
  pull->caps = arrival.caps;
  pull->exclusive = arrival.exclusive;
  pull->epoch = arrival.epoch;
  return statuses[arrived];
}

static void
gst_spdl_sink_element_wake (GstSpdlOutlet *outlet)
{
  spdl_arrivals_wake (&GST_SPDL_SINK_ELEMENT (outlet)->arrivals);
}

static void
gst_spdl_sink_element_get_sources (
    GstSpdlOutlet *outlet, GstSpdlSources *sources)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (outlet);

  spdl_mutex_lock (&self->tallies_lock);
  sources->n = spdl_tallies_count_sources (&self->tallies);
  sources->in_step =
      spdl_tallies_get_first_epoch (&self->tallies, &sources->epoch);
  spdl_mutex_unlock (&self->tallies_lock);
}

static gchar *
gst_spdl_sink_element_dup_epoch_state (GstSpdlOutlet *outlet, guint64 epoch)
{
  GstSpdlSinkElement *self = GST_SPDL_SINK_ELEMENT (outlet);
  gchar *state;

  spdl_mutex_lock (&self->tallies_lock);
  state = spdl_tallies_dup_epoch_state (&self->tallies, epoch);
  spdl_mutex_unlock (&self->tallies_lock);
  return state;
}

void
gst_spdl_sink_element_outlet_init (GstSpdlOutletInterface *iface)
{
  iface->set_open = gst_spdl_sink_element_set_open;
  iface->wait = gst_spdl_sink_element_wait;
  iface->pull = gst_spdl_sink_element_pull;
  iface->wake = gst_spdl_sink_element_wake;
  iface->get_sources = gst_spdl_sink_element_get_sources;
  iface->dup_epoch_state = gst_spdl_sink_element_dup_epoch_state;
}

void
gst_spdl_sink_element_init_pulls (GstAppSinkClass *app_class)
{
  app_class->pull_sample = gst_spdl_sink_element_pull_sample;
  app_class->try_pull_sample = gst_spdl_sink_element_try_pull_sample;
}
