/* gst-spdl: private parts of spdlroute
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/plainstats.h"
#include "plugins/core/route/condition.h"

G_BEGIN_DECLS

/* gstspdlroute.c is the element, its pads, properties and states.
 * routepaths.c is what goes out: which path an item takes, and events,
 *   which take all. */

#define GST_TYPE_SPDL_ROUTE_PAD (gst_spdl_route_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlRoutePad, gst_spdl_route_pad, GST, SPDL_ROUTE_PAD, GstPad)

struct _GstSpdlRoutePad {
  GstPad parent;

  guint number; /* src_%u */

  /* Under the object's lock. */
  gchar *when;              /* property, nullable */
  GError *problem;          /* of it, nullable */
  SpdlCondition *condition; /* nullable: whatever is left */

  /* Under the route's lock. */
  guint64 n_items; /* for the figures */
  guint64 n_interval_items;
  GQueue ends;        /* GstEvent: for a thread of their own to push */
  gboolean is_ending; /* which is there */

  /* Of the thread that comes in. */
  GstSpdlCapsGate gate;
  gboolean is_new; /* it lacks what events came before */
  GstFlowReturn result;
  GThread *ender;              /* nullable; it may have ended */
  struct _GstSpdlRoute *route; /* for that */
};

#define GST_TYPE_SPDL_ROUTE (gst_spdl_route_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlRoute, gst_spdl_route, GST, SPDL_ROUTE, GstElement)

struct _GstSpdlRoute {
  GstElement parent;

  GstPad *sinkpad;
  GstSpdlPlainStats *stats;

  SpdlMutex lock;
  GPtrArray *pads; /* GstSpdlRoutePad, owned, as they were requested */
  gboolean started;
  SpdlCond ended;    /* one of them has done that */
  guint64 n_refused; /* items of paths that have ended */
  guint64 n_interval_refused;

  /* Of the thread that comes in. */
  GstCaps *caps;
  GHashTable *sources; /* number to the GstEvent that announced it */
};

/* Forgets all of a run. */
void spdl_route_pad_reset (GstSpdlRoutePad *self);
/* Whether that item may go there. */
gboolean
spdl_route_pad_takes (GstSpdlRoutePad *self, GstBuffer *item, GstCaps *caps);

/* Sends an item or a group to its branch. Called with the sink pad's stream
 * lock held. */
GstFlowReturn spdl_route_push_item (GstSpdlRoute *self, GstBuffer *item);
GstFlowReturn spdl_route_push_group (GstSpdlRoute *self, GstBufferList *group);
gboolean spdl_route_push_event (GstSpdlRoute *self, GstEvent *event);

/* Waits until the pad's thread has pushed the end events. */
void spdl_route_join_ender (GstSpdlRoutePad *pad);

/* Waits until no thread pushes an end; ends that have not started are dropped.
 */
void spdl_route_wait_for_enders (GstSpdlRoute *self);

G_END_DECLS
