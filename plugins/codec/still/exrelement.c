/* gst-spdl: OpenEXR decoder, a GStreamer element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/exrelement.h"

#include "gst/spdl/common/harness.h"
#include "gst/spdl/common/tryallocator.h"

#define ELEMENT "openexrdec"

struct _SpdlExrElement {
  GstSpdlHarness *harness; /* NULL: not open */
  GstCaps *caps;           /* of files */

  /* The current file. */
  GstVideoInfo info;
  GstBuffer *frame;
};

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  SpdlExrElement *self = user_data;

  return gst_video_info_from_caps (&self->info, caps);
}

/* Lets frames have memory whose allocation may fail, in any layout. */
static gboolean
answer_query (gpointer user_data, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  gst_query_add_allocation_param (query, gst_spdl_try_allocator_get (), NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
take_frame (gpointer user_data, GstBuffer *frame)
{
  SpdlExrElement *self = user_data;

  gst_clear_buffer (&self->frame);
  self->frame = frame;
  return GST_FLOW_OK;
}

static const GstSpdlHarnessFuncs funcs = { &in_template, take_caps, take_frame,
  answer_query };

SpdlExrElement *
spdl_exr_element_new (void)
{
  SpdlExrElement *self = g_new0 (SpdlExrElement, 1);

  self->caps =
      gst_caps_new_simple ("image/x-exr", "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
  return self;
}

void
spdl_exr_element_free (SpdlExrElement *self)
{
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_caps_unref (self->caps);
  g_free (self);
}

static gboolean
open_element (SpdlExrElement *self, GError **error)
{
  GstElement *element;

  if (self->harness)
    return TRUE;
  element = gst_element_factory_make (ELEMENT, NULL);
  if (element) {
    gst_spdl_harness_configure (element, TRUE);
    self->harness = gst_spdl_harness_new (element,
        gst_element_get_static_pad (element, "sink"),
        gst_element_get_static_pad (element, "src"), &funcs, self);
  }
  if (self->harness && gst_spdl_harness_start (self->harness, self->caps))
    return TRUE;
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
      "File is image/x-exr, whose decoder " ELEMENT
      " is not installed or does not start; Debian has it in "
      "gstreamer1.0-plugins-bad");
  return FALSE;
}

GstBuffer *
spdl_exr_element_decode (SpdlExrElement *self, const guint8 *data, gsize size,
    GstVideoInfo *info, GError **error)
{
  g_autofree gchar *message = NULL;
  GstFlowReturn ret;
  GstBuffer *file;

  if (!open_element (self, error))
    return NULL;
  file = gst_buffer_new_wrapped_full (
      GST_MEMORY_FLAG_READONLY, (gpointer) data, size, 0, size, NULL, NULL);
  GST_BUFFER_PTS (file) = 0;
  ret = gst_spdl_harness_push (self->harness, file, self->caps);
  if (ret == GST_FLOW_OK && !self->frame)
    gst_spdl_harness_drain (self->harness);
  message = gst_spdl_harness_take_message (self->harness, NULL);
  gst_spdl_harness_flush (self->harness);
  *info = self->info;
  if (ret == GST_FLOW_OK && !message && self->frame)
    return g_steal_pointer (&self->frame);
  gst_clear_buffer (&self->frame);
  /* After an error, the element may not recover. */
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt image: " ELEMENT " reported %s", message ? message : "no image");
  return NULL;
}
