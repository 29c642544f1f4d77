/* gst-spdl: base class of elements with one sink and one source pad
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/stage/plainstats.h"

G_BEGIN_DECLS

/* Base class of elements that work in the upstream thread: two pads from the
 * subclass's templates that proxy each other's caps, statistics with their two
 * properties, flushes and states. */

#define GST_TYPE_SPDL_FILTER (gst_spdl_filter_get_type ())
#define GST_SPDL_FILTER(obj) ((GstSpdlFilter *) (obj))
#define GST_SPDL_FILTER_CLASS(klass) ((GstSpdlFilterClass *) (klass))
#define GST_SPDL_FILTER_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_SPDL_FILTER, GstSpdlFilterClass))

typedef struct {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;
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
} GstSpdlFilterClass;

SPDL_PRIVATE_API
GType gst_spdl_filter_get_type (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlFilter, gst_object_unref)

G_END_DECLS
