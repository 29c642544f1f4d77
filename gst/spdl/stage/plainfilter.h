/* gst-spdl: base class of elements that work in the upstream thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/stage/plainstats.h"

G_BEGIN_DECLS

/* Base class of elements that work in the upstream thread: statistics with
 * their two properties, flushes and states, and pads from those of the
 * templates `sink` and `src` that the subclass has. */

#define GST_TYPE_SPDL_FILTER (gst_spdl_filter_get_type ())
#define GST_SPDL_FILTER(obj) ((GstSpdlFilter *) (obj))
#define GST_SPDL_FILTER_CLASS(klass) ((GstSpdlFilterClass *) (klass))
#define GST_SPDL_FILTER_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_SPDL_FILTER, GstSpdlFilterClass))

typedef struct {
  GstElement parent;

  GstPad *sinkpad; /* nullable */
  GstPad *srcpad;  /* nullable */
  GstSpdlPlainStats *stats;
} GstSpdlFilter;

typedef struct {
  GstElementClass parent_class;

  GstSpdlFields fields;
  GstFlowReturn (*chain) (GstSpdlFilter *self, GstBuffer *buffer);
  /* Default: chain() for each of its buffers. */
  GstFlowReturn (*chain_list) (GstSpdlFilter *self, GstBufferList *list);
  /* Subclasses must chain up: the default reports at EOS and forwards the
   * event. */
  gboolean (*event) (GstSpdlFilter *self, GstEvent *event);
  /* Drops pending data, after a flush and at the end of a run. */
  void (*reset) (GstSpdlFilter *self);
  /* Begins a run, before pads are activated. An error is posted. */
  gboolean (*start) (GstSpdlFilter *self, GError **error);
  /* Ends a run, after reset(), also if pads could not be activated. */
  void (*stop) (GstSpdlFilter *self);
} GstSpdlFilterClass;

SPDL_PRIVATE_API
GType gst_spdl_filter_get_type (void);

/* Makes the pads proxy each other's caps and allocations, for elements that
 * change no buffer. */
SPDL_PRIVATE_API
void gst_spdl_filter_set_proxy (GstSpdlFilter *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlFilter, gst_object_unref)

G_END_DECLS
