/* gst-spdl: private parts of spdlroute
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/capsgate.h"
#include "plugins/core/numberedpads.h"

G_BEGIN_DECLS

/* gstspdlroute.c has the element with its pads, properties and state changes.
 * condition.c parses and tests conditions.
 * routepaths.c handles the output: it chooses the branch of an item, and sends
 * events to all branches. */

typedef struct _SpdlCondition SpdlCondition;

#define GST_TYPE_SPDL_ROUTE_PAD (gst_spdl_route_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlRoutePad, gst_spdl_route_pad, GST, SPDL_ROUTE_PAD,
    GstSpdlNumberedPad)

struct _GstSpdlRoutePad {
  GstSpdlNumberedPad base;

  /* Guarded by the object lock. */
  gchar *when;              /* property, nullable */
  GError *problem;          /* parse error of the condition, nullable */
  SpdlCondition *condition; /* nullable: takes all items */

  /* Guarded by the lock of the route. */
  GQueue ends;        /* GstEvent: ends that the thread `ender` must push */
  gboolean is_ending; /* the thread is running */

  /* Only used by the streaming thread. */
  GstSpdlCapsGate gate;
  gboolean is_new; /* has not received earlier sticky events */
  GstFlowReturn result;
  GThread *ender;              /* nullable; may have returned */
  struct _GstSpdlRoute *route; /* used by the thread */
};

#define GST_TYPE_SPDL_ROUTE (gst_spdl_route_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlRoute, gst_spdl_route, GST, SPDL_ROUTE, GstSpdlNumberedPads)

struct _GstSpdlRoute {
  GstSpdlNumberedPads base;

  /* Guarded by the lock. */
  SpdlCond ended;    /* a pad has pushed its end events */
  guint64 n_refused; /* items for branches that have ended */
  guint64 n_interval_refused;

  /* Only used by the streaming thread. */
  guint select_signal; /* `select-branch`; 0: it had no handler at the start */
  GstCaps *caps;
  GHashTable *sources; /* number of a source to its announcement, a GstEvent */
};

/* Parses a condition. Returns NULL with @error set if @text is not one. */
SpdlCondition *spdl_condition_parse (const gchar *text, GError **error);
void spdl_condition_free (SpdlCondition *self);

/* Returns TRUE if the condition holds for @item with @caps (nullable). For a
 * batch, the first item is tested. */
gboolean
spdl_condition_holds (SpdlCondition *self, GstBuffer *item, GstCaps *caps);

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
