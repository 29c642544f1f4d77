/* gst-spdl: one decoder element that is held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/chain.h"

#include <gst/video/video.h>

#include "gst/spdl/common/harness.h"
#include "gst/spdl/common/tryallocator.h"

/* A pool of frames for one decoder. A pattern is put into those that it hands
 * out, by which the rows that the decoder wrote can be told from those that it
 * did not: libpng passes over errors in compressed data without a word. One
 * thread at a time. */

#define SPDL_TYPE_FRAME_POOL (spdl_frame_pool_get_type ())
G_DECLARE_FINAL_TYPE (
    SpdlFramePool, spdl_frame_pool, SPDL, FRAME_POOL, GstVideoBufferPool)

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

/* Frames of which it is known what was written */

/* In rows of fewer bytes the pattern could stand by chance. */
#define MIN_ROW 8

struct _SpdlFramePool {
  GstVideoBufferPool parent;

  gboolean all_rows;
  gboolean exhausted;
  GstMemory *memory; /* of the last frame; nullable */
};

G_DEFINE_FINAL_TYPE (SpdlFramePool, spdl_frame_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static inline guint8
pattern (gsize i)
{
  return (i * 0x9e3779b1u) >> 24;
}

static void
fill (SpdlFramePool *self, GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstMapInfo map;
  gsize first = 0;

  if (!gst_memory_map (self->memory, &map, GST_MAP_WRITE))
    return;
  if (meta && !self->all_rows && meta->height > 2)
    first = MIN (meta->offset[0] + (gsize) meta->stride[0] * (meta->height - 2),
        map.size);
  for (gsize i = first; i < map.size; i++)
    map.data[i] = pattern (i);
  gst_memory_unmap (self->memory, &map);
}

/* Decoders that bring no allocator would take GStreamer's own. */
static gboolean
spdl_frame_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  gst_buffer_pool_config_get_allocator (config, &allocator, &params);
  if (!allocator)
    gst_buffer_pool_config_set_allocator (
        config, gst_spdl_try_allocator_get (), &params);
  return GST_BUFFER_POOL_CLASS (spdl_frame_pool_parent_class)
      ->set_config (pool, config);
}

static GstFlowReturn
spdl_frame_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  SpdlFramePool *self = SPDL_FRAME_POOL (pool);
  const GstFlowReturn ret = GST_BUFFER_POOL_CLASS (spdl_frame_pool_parent_class)
                                ->acquire_buffer (pool, buffer, params);

  if (ret == GST_FLOW_ERROR)
    self->exhausted = TRUE;
  if (ret != GST_FLOW_OK || gst_buffer_n_memory (*buffer) != 1)
    return ret;
  g_clear_pointer (&self->memory, gst_memory_unref);
  self->memory = gst_buffer_get_memory (*buffer, 0);
  fill (self, *buffer);
  return ret;
}

static SpdlFramePool *
spdl_frame_pool_new (void)
{
  return gst_object_ref_sink (g_object_new (SPDL_TYPE_FRAME_POOL, NULL));
}

/* A new image begins: forgets the last frame. @all_rows: the pattern is put
 * into all of them, not only into the last two, of which one is written last.
 */
static void
spdl_frame_pool_begin (SpdlFramePool *self, gboolean all_rows)
{
  g_clear_pointer (&self->memory, gst_memory_unref);
  self->all_rows = all_rows;
  self->exhausted = FALSE;
}

/* Whether there was no memory for this image's frame. */
static gboolean
spdl_frame_pool_is_exhausted (const SpdlFramePool *self)
{
  return self->exhausted;
}

static gboolean
is_written (const guint8 *data, gsize first, gsize n)
{
  for (gsize i = first; i < first + n; i++)
    if (data[i] != pattern (i))
      return TRUE;
  return FALSE;
}

/* Of an interlaced image the last row but one may be the last that is written:
 * both count. */
static guint
count_written (const SpdlFramePool *self, const guint8 *data, gsize stride,
    gsize width, guint height)
{
  guint n = height;

  if (n > 1 && !is_written (data, (n - 2) * stride, width))
    n--;
  while (n > 0 && !is_written (data, (n - 1) * stride, width))
    n--;
  return n;
}

/* How many rows of this image's frame were written: all, or those before the
 * ones at the end that were not. */
static guint
spdl_frame_pool_count_rows (SpdlFramePool *self, const GstVideoInfo *info)
{
  const gsize stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  const gsize width = GST_VIDEO_INFO_WIDTH (info) *
                      (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  guint n = GST_VIDEO_INFO_HEIGHT (info);
  GstMapInfo map;

  if (!self->memory || GST_VIDEO_INFO_N_PLANES (info) != 1 || width < MIN_ROW ||
      !gst_memory_map (self->memory, &map, GST_MAP_READ))
    return n;
  if (map.size >= GST_VIDEO_INFO_SIZE (info))
    n = count_written (self, map.data, stride, width, n);
  gst_memory_unmap (self->memory, &map);
  return n;
}

static void
spdl_frame_pool_finalize (GObject *object)
{
  g_clear_pointer (&SPDL_FRAME_POOL (object)->memory, gst_memory_unref);
  G_OBJECT_CLASS (spdl_frame_pool_parent_class)->finalize (object);
}

static void
spdl_frame_pool_class_init (SpdlFramePoolClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = spdl_frame_pool_finalize;
  GST_BUFFER_POOL_CLASS (klass)->set_config = spdl_frame_pool_set_config;
  GST_BUFFER_POOL_CLASS (klass)->acquire_buffer =
      spdl_frame_pool_acquire_buffer;
}

static void
spdl_frame_pool_init (SpdlFramePool *self)
{
}

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
