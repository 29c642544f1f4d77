/* gst-spdl: element spdldisaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdldisaggregate
 * @title: spdldisaggregate
 * @short_description: splits groups into items
 *
 * Sends the items of each group one by one. Items without a group pass
 * unchanged.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlaggregate size=32 ! spdlfetch concurrency=4
 *     ! spdldisaggregate ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/plainfilter.h"
#include "plugins/core/core.h"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_DISAGGREGATE (gst_spdl_disaggregate_get_type ())
GType gst_spdl_disaggregate_get_type (void);

typedef struct {
  GstSpdlFilter parent;
} GstSpdlDisaggregate;

typedef struct {
  GstSpdlFilterClass parent_class;
} GstSpdlDisaggregateClass;

G_DEFINE_TYPE (GstSpdlDisaggregate, gst_spdl_disaggregate, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (spdldisaggregate, "spdldisaggregate",
    GST_RANK_NONE, GST_TYPE_SPDL_DISAGGREGATE)

/* Buffer lists do not arrive here, because the base class splits them. */
static GstFlowReturn
gst_spdl_disaggregate_chain (GstSpdlFilter *self, GstBuffer *buffer)
{
  const gsize bytes = gst_buffer_get_size (buffer);

  gst_spdl_plain_stats_pass (self->stats, 1, bytes, bytes);
  return gst_pad_push (self->srcpad, buffer);
}

static void
gst_spdl_disaggregate_class_init (GstSpdlDisaggregateClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item ungrouper",
      "Filter", "Splits groups into their items", "the gst-spdl developers");
  GST_SPDL_FILTER_CLASS (klass)->chain = gst_spdl_disaggregate_chain;
}

static void
gst_spdl_disaggregate_init (GstSpdlDisaggregate *self)
{
  gst_spdl_filter_set_proxy (&self->parent);
}
