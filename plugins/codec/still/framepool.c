/* gst-spdl: frames of which it is known what was written
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/framepool.h"

#include "gst/spdl/common/tryallocator.h"

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

SpdlFramePool *
spdl_frame_pool_new (void)
{
  return gst_object_ref_sink (g_object_new (SPDL_TYPE_FRAME_POOL, NULL));
}

void
spdl_frame_pool_begin (SpdlFramePool *self, gboolean all_rows)
{
  g_clear_pointer (&self->memory, gst_memory_unref);
  self->all_rows = all_rows;
  self->exhausted = FALSE;
}

gboolean
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

guint
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
