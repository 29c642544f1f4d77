/* gst-spdl: interface between a loader and its sink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loadersink.h"

G_DEFINE_INTERFACE (GstSpdlLoaderSink, gst_spdl_loader_sink, GST_TYPE_ELEMENT)

#define IFACE(self)                \
  (G_TYPE_INSTANCE_GET_INTERFACE ( \
      (self), GST_TYPE_SPDL_LOADER_SINK, GstSpdlLoaderSinkInterface))

static void
gst_spdl_loader_sink_default_init (GstSpdlLoaderSinkInterface *iface)
{
}

void
gst_spdl_loader_sink_set_open (GstSpdlLoaderSink *self, gboolean open)
{
  IFACE (self)->set_open (self, open);
}

gboolean
gst_spdl_loader_sink_wait (
    GstSpdlLoaderSink *self, GstClockTime timeout, guint wakes)
{
  return IFACE (self)->wait (self, timeout, wakes);
}

GstSpdlPullStatus
gst_spdl_loader_sink_pull (
    GstSpdlLoaderSink *self, GstClockTime timeout, GstSpdlPull *pull)
{
  return IFACE (self)->pull (self, timeout, pull);
}

void
gst_spdl_loader_sink_wake (GstSpdlLoaderSink *self)
{
  IFACE (self)->wake (self);
}

void
gst_spdl_loader_sink_get_sources (
    GstSpdlLoaderSink *self, GstSpdlSources *sources)
{
  IFACE (self)->get_sources (self, sources);
}

gchar *
gst_spdl_loader_sink_dup_epoch_state (GstSpdlLoaderSink *self, guint64 epoch)
{
  return IFACE (self)->dup_epoch_state (self, epoch);
}
