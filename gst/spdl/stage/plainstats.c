/* gst-spdl: statistics of elements that are not stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/plainstats.h"

static GstStructure *
make_snapshot (GstElement *element, gboolean interval, gpointer user_data)
{
  GstSpdlPlainStats *self = user_data;
  GstSpdlFields fields;
  SpdlMeterStats stats;
  GstStructure *s;
  guint64 now;

  spdl_mutex_lock (&self->lock);
  fields = self->fields;
  now = spdl_meter_now (&self->meter);
  spdl_meter_snapshot (&self->meter, interval, now, 0, &stats);
  if (interval)
    spdl_meter_end_interval (&self->meter, now, 0);
  spdl_mutex_unlock (&self->lock);

  s = gst_spdl_figures_to_structure (&stats, element, fields);
  if (self->add_figures)
    self->add_figures (element, &stats, s);
  return s;
}

GstSpdlPlainStats *
gst_spdl_plain_stats_new (GstElement *element, GstSpdlFields fields)
{
  GstSpdlPlainStats *self = g_new0 (GstSpdlPlainStats, 1);

  spdl_mutex_init (&self->lock);
  self->fields = fields;
  gst_spdl_reporter_init (&self->reporter, element, make_snapshot, self);
  return self;
}

void
gst_spdl_plain_stats_free (GstSpdlPlainStats *self)
{
  gst_spdl_reporter_clear (&self->reporter);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

void
gst_spdl_plain_stats_start (GstSpdlPlainStats *self)
{
  spdl_mutex_lock (&self->lock);
  self->meter.track =
      spdl_trace_get_track (GST_OBJECT_NAME (self->reporter.element));
  spdl_meter_start (&self->meter, NULL);
  spdl_mutex_unlock (&self->lock);
  gst_spdl_reporter_start (&self->reporter);
}

void
gst_spdl_plain_stats_finish (GstSpdlPlainStats *self)
{
  gst_spdl_reporter_finish (&self->reporter);
}

void
gst_spdl_plain_stats_stop (GstSpdlPlainStats *self)
{
  spdl_mutex_lock (&self->lock);
  spdl_meter_stop (&self->meter, spdl_meter_now (&self->meter));
  spdl_mutex_unlock (&self->lock);
  gst_spdl_reporter_finish (&self->reporter);
}

void
gst_spdl_plain_stats_pass (
    GstSpdlPlainStats *self, guint n_items, gsize bytes_in, gsize bytes_out)
{
  spdl_mutex_lock (&self->lock);
  self->meter.interval.items += n_items;
  self->meter.interval.bytes_in += bytes_in;
  self->meter.interval.bytes_out += bytes_out;
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_plain_stats_set_interval (GstSpdlPlainStats *self, const GValue *value)
{
  gst_spdl_reporter_set_interval (&self->reporter, g_value_get_uint64 (value));
}

void
gst_spdl_plain_stats_get_interval (GstSpdlPlainStats *self, GValue *value)
{
  g_value_set_uint64 (value, gst_spdl_reporter_get_interval (&self->reporter));
}

void
gst_spdl_plain_stats_get_stats (GstSpdlPlainStats *self, GValue *value)
{
  g_value_take_boxed (
      value, make_snapshot (self->reporter.element, FALSE, self));
}
