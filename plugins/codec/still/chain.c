/* gst-spdl: one decoder element that is held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/chain.h"

#include "gst/spdl/common/harness.h"
#include "plugins/codec/still/framepool.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static GstStaticPadTemplate in_template = GST_STATIC_PAD_TEMPLATE (
    "in", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

struct _SpdlChain {
  GstSpdlHarness *harness;
  const gchar *name; /* interned: of the element */
  gboolean suspect;

  /* Of the file in hand. */
  guint64 max_pixels;
  gboolean keep;
  GstVideoInfo info;
  gboolean has_info;
  gboolean too_large;
  GstBuffer *frame;
  guint n_rows; /* of it that are there */
  SpdlFramePool *pool;
};

/* What comes out of the element */

/* Elements set their caps before they take memory for a frame: those of images
 * too large are refused. */
static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  SpdlChain *self = user_data;

  self->has_info = gst_video_info_from_caps (&self->info, caps);
  if (!self->has_info)
    return FALSE;
  self->too_large = (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                        GST_VIDEO_INFO_HEIGHT (&self->info) >
                    self->max_pixels;
  return !self->too_large;
}

static void
propose_pool (SpdlChain *self, GstQuery *query)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return;
  gst_clear_object (&self->pool);
  self->pool = spdl_frame_pool_new ();
  spdl_frame_pool_begin (self->pool, self->keep);
  gst_query_add_allocation_pool (
      query, GST_BUFFER_POOL (self->pool), GST_VIDEO_INFO_SIZE (&info), 0, 0);
}

/* Frames are read by GstVideoFrame, so they may be laid out in any way. */
static gboolean
answer (gpointer user_data, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  propose_pool (user_data, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstFlowReturn
take_frame (gpointer user_data, GstBuffer *frame)
{
  SpdlChain *self = user_data;

  if (self->frame)
    gst_buffer_unref (frame); /* of an animation only the first counts */
  else
    self->frame = frame;
  return GST_FLOW_OK;
}

static const GstSpdlHarnessFuncs funcs = { &in_template, take_caps, take_frame,
  answer };

/* Making and ending it */

SpdlChain *
spdl_chain_new (GstElementFactory *factory, GstCaps *caps, GError **error)
{
  const gchar *name = g_intern_string (GST_OBJECT_NAME (factory));
  GstElement *element = gst_element_factory_create (factory, NULL);
  g_autofree gchar *message = NULL;
  SpdlChain *self;

  if (!element) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "%s cannot be made", name);
    return NULL;
  }
  self = g_new0 (SpdlChain, 1);
  self->max_pixels = G_MAXUINT64;
  self->name = name;
  gst_spdl_harness_configure (element, TRUE);
  self->harness = gst_spdl_harness_new (element,
      gst_element_get_static_pad (element, "sink"),
      gst_element_get_static_pad (element, "src"), &funcs, self);
  if (!self->harness || !gst_spdl_harness_start (self->harness, caps)) {
    if (self->harness)
      message = gst_spdl_harness_take_message (self->harness, NULL);
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "%s does not start: %s", name,
        message ? message : "it refuses the format");
    g_clear_pointer (&self, spdl_chain_free);
  } else {
    GST_INFO ("%s is open for %" GST_PTR_FORMAT, name, caps);
  }
  return self;
}

void
spdl_chain_free (SpdlChain *self)
{
  gst_clear_buffer (&self->frame);
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_clear_object (&self->pool);
  g_free (self);
}

/* Decoding */

static void
forget_file (SpdlChain *self)
{
  gst_clear_buffer (&self->frame);
  g_free (gst_spdl_harness_take_message (self->harness, NULL));
  self->too_large = FALSE;
}

/* An element may also keep its caps from one image to the next. */
static gboolean
is_too_large (const SpdlChain *self)
{
  return self->too_large ||
         (self->frame && (guint64) GST_VIDEO_INFO_WIDTH (&self->info) *
                                 GST_VIDEO_INFO_HEIGHT (&self->info) >
                             self->max_pixels);
}

/* What became of the file whose push gave @ret. */
static SpdlChainResult
judge (SpdlChain *self, GstFlowReturn ret, GError **error)
{
  g_autofree gchar *message =
      gst_spdl_harness_take_message (self->harness, NULL);

  if (is_too_large (self)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "It has %d by %d pixels, more than max-pixels (%" G_GUINT64_FORMAT ")",
        GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info),
        self->max_pixels);
    return SPDL_CHAIN_TOO_LARGE;
  }
  if (self->pool && spdl_frame_pool_is_exhausted (self->pool)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory to decode an image of %d by %d",
        GST_VIDEO_INFO_WIDTH (&self->info),
        GST_VIDEO_INFO_HEIGHT (&self->info));
    return SPDL_CHAIN_BROKEN_FILE;
  }
  if (ret == GST_FLOW_NOT_NEGOTIATED || ret == GST_FLOW_NOT_SUPPORTED) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "%s does not decode this kind of it: %s", self->name,
        message ? message : gst_flow_get_name (ret));
    return SPDL_CHAIN_UNFIT;
  }
  if (ret == GST_FLOW_OK && !message && self->frame &&
      self->n_rows == (guint) GST_VIDEO_INFO_HEIGHT (&self->info) &&
      !GST_BUFFER_FLAG_IS_SET (self->frame, GST_BUFFER_FLAG_CORRUPTED))
    return SPDL_CHAIN_OK;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is broken: %s found %s", self->name,
      message       ? message
      : self->frame ? "parts of it missing or wrong"
      : ret < 0     ? "that it cannot be decoded"
                    : "no picture in it");
  return SPDL_CHAIN_BROKEN_FILE;
}

/* Those that are there of the frame that came, if it is of our pool. */
static void
count_rows (SpdlChain *self)
{
  self->n_rows = self->has_info ? GST_VIDEO_INFO_HEIGHT (&self->info) : 0;
  if (self->frame && self->pool && self->frame->pool == (gpointer) self->pool)
    self->n_rows = spdl_frame_pool_count_rows (self->pool, &self->info);
}

SpdlChainResult
spdl_chain_decode (SpdlChain *self, GstBuffer *file, GstCaps *caps,
    const SpdlChainLimits *limits, GError **error)
{
  SpdlChainResult result;
  GstFlowReturn ret;

  forget_file (self);
  self->max_pixels = limits->max_pixels;
  self->keep = limits->keep;
  if (self->pool)
    spdl_frame_pool_begin (self->pool, limits->keep);
  GST_BUFFER_PTS (file) = 0;
  ret = gst_spdl_harness_push (self->harness, file, caps);
  if (ret == GST_FLOW_OK && !self->frame)
    gst_spdl_harness_drain (self->harness);
  count_rows (self);
  result = judge (self, ret, error);
  self->suspect = result != SPDL_CHAIN_OK;
  gst_spdl_harness_flush (self->harness);
  return result;
}

gboolean
spdl_chain_get_frame (SpdlChain *self, SpdlFrame *frame)
{
  frame->buffer = self->frame;
  frame->info = &self->info;
  frame->n_rows = self->n_rows;
  return self->frame != NULL;
}

gboolean
spdl_chain_is_suspect (const SpdlChain *self)
{
  return self->suspect;
}
