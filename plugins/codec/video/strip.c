/* gst-spdl: the memory of a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/strip.h"

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/tryallocator.h"

static void
clear_pool (SpdlStrip *self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  gst_clear_caps (&self->caps);
}

void
spdl_strip_clear (SpdlStrip *self)
{
  spdl_strip_cancel (self);
  clear_pool (self);
}

static gsize
get_frame_size (const SpdlStrip *self)
{
  return (gsize) self->width * self->height * self->n_channels;
}

static guint
get_n_channels (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
}

static gboolean
is_same (const SpdlStrip *self, const GstVideoInfo *info)
{
  return self->width == (guint) GST_VIDEO_INFO_WIDTH (info) &&
         self->height == (guint) GST_VIDEO_INFO_HEIGHT (info) &&
         self->n_channels == get_n_channels (info);
}

static gboolean
no_memory (const SpdlStrip *self, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "There is no memory for a clip of %u images of %u by %u", self->n_frames,
      self->width, self->height);
  return FALSE;
}

static gboolean
make_pool (SpdlStrip *self)
{
  const guint32 dims[] = { self->n_channels, self->width, self->height,
    self->n_frames };
  const gsize size = get_frame_size (self) * self->n_frames;
  GstSpdlTensorsInfo info;

  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (
      &info, GST_SPDL_TENSOR_UINT8, G_N_ELEMENTS (dims), dims);
  self->caps = gst_spdl_tensors_info_to_caps (&info);
  /* No upper bound: a worker must not wait for downstream. */
  self->pool = gst_spdl_try_pool_new (self->caps, size);
  return self->pool != NULL;
}

gboolean
spdl_strip_begin (
    SpdlStrip *self, const GstVideoInfo *info, guint n_frames, GError **error)
{
  if (!is_same (self, info) || self->n_frames != n_frames || !self->pool) {
    clear_pool (self);
    self->width = GST_VIDEO_INFO_WIDTH (info);
    self->height = GST_VIDEO_INFO_HEIGHT (info);
    self->n_channels = get_n_channels (info);
    self->n_frames = n_frames;
    if (!make_pool (self)) {
      clear_pool (self);
      return no_memory (self, error);
    }
  }
  if (gst_buffer_pool_acquire_buffer (self->pool, &self->buffer, NULL) !=
      GST_FLOW_OK)
    return no_memory (self, error);
  if (gst_buffer_map (self->buffer, &self->map, GST_MAP_WRITE))
    return TRUE;
  gst_clear_buffer (&self->buffer);
  return no_memory (self, error);
}

gboolean
spdl_strip_put (SpdlStrip *self, guint i, GstBuffer *image,
    const GstVideoInfo *info, GError **error)
{
  const gsize row = (gsize) self->width * self->n_channels;
  const gsize stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  guint8 *to = self->map.data + i * get_frame_size (self);
  GstMapInfo map;

  if (!is_same (self, info)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Its frames are of different sizes: set width and height");
    return FALSE;
  }
  if (!gst_buffer_map (image, &map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "What was decoded of it cannot be mapped");
    return FALSE;
  }
  for (guint y = 0; y < self->height; y++)
    memcpy (to + y * row, map.data + y * stride, row);
  gst_buffer_unmap (image, &map);
  return TRUE;
}

void
spdl_strip_repeat (SpdlStrip *self, guint i, guint from)
{
  const gsize size = get_frame_size (self);

  memcpy (self->map.data + i * size, self->map.data + from * size, size);
}

GstBuffer *
spdl_strip_end (SpdlStrip *self, GstCaps **caps)
{
  gst_buffer_unmap (self->buffer, &self->map);
  *caps = self->caps;
  return g_steal_pointer (&self->buffer);
}

void
spdl_strip_cancel (SpdlStrip *self)
{
  if (!self->buffer)
    return;
  gst_buffer_unmap (self->buffer, &self->map);
  gst_clear_buffer (&self->buffer);
}
