/* gst-spdl: how a loader takes batches from its sink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/outlet.h"

G_DEFINE_INTERFACE (GstSpdlOutlet, gst_spdl_outlet, GST_TYPE_ELEMENT)

#define IFACE(self)                \
  (G_TYPE_INSTANCE_GET_INTERFACE ( \
      (self), GST_TYPE_SPDL_OUTLET, GstSpdlOutletInterface))

static void
gst_spdl_outlet_default_init (GstSpdlOutletInterface *iface)
{
}

void
gst_spdl_outlet_set_open (GstSpdlOutlet *self, gboolean open)
{
  IFACE (self)->set_open (self, open);
}

gboolean
gst_spdl_outlet_wait (GstSpdlOutlet *self, GstClockTime timeout, guint wakes)
{
  return IFACE (self)->wait (self, timeout, wakes);
}

GstSpdlPullStatus
gst_spdl_outlet_pull (
    GstSpdlOutlet *self, GstClockTime timeout, GstSpdlPull *pull)
{
  return IFACE (self)->pull (self, timeout, pull);
}

void
gst_spdl_outlet_wake (GstSpdlOutlet *self)
{
  IFACE (self)->wake (self);
}

void
gst_spdl_outlet_get_sources (GstSpdlOutlet *self, GstSpdlSources *sources)
{
  IFACE (self)->get_sources (self, sources);
}

gchar *
gst_spdl_outlet_dup_epoch_state (GstSpdlOutlet *self, guint64 epoch)
{
  return IFACE (self)->dup_epoch_state (self, epoch);
}
