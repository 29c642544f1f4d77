/* gst-spdl: items as tensors, written into a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlstacker.h"

#include <string.h>

static gboolean
init_video (SpdlStacker *self, const GstCaps *caps, GError **error)
{
  if (!gst_video_info_from_caps (&self->video, caps)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The caps are not those of a raw image");
    return FALSE;
  }

  const guint32 dims[] = { GST_VIDEO_INFO_COMP_PSTRIDE (&self->video, 0),
    GST_VIDEO_INFO_WIDTH (&self->video), GST_VIDEO_INFO_HEIGHT (&self->video) };
  self->is_video = TRUE;
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info, GST_SPDL_TENSOR_UINT8, 3, dims);
  return TRUE;
}

static gboolean
has_rank_to_spare (const GstSpdlTensorsInfo *info, GError **error)
{
  for (guint i = 0; i < info->num_tensors; i++) {
    if (info->tensors[i].rank < GST_SPDL_MAX_RANK)
      continue;
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The items have %d dimensions already, so there is none left for the "
        "batch",
        GST_SPDL_MAX_RANK);
    return FALSE;
  }
  return TRUE;
}

gboolean
spdl_stacker_init (SpdlStacker *self, const GstCaps *caps, GError **error)
{
  memset (self, 0, sizeof *self);
  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return init_video (self, caps, error);
  return gst_spdl_tensors_info_from_caps (&self->info, caps, error) &&
         has_rank_to_spare (&self->info, error);
}

static gboolean
too_small (GError **error, guint tensor, gsize size, gsize needed)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Tensor %u has %" G_GSIZE_FORMAT
      " bytes, but its shape needs %" G_GSIZE_FORMAT,
      tensor, size, needed);
  return FALSE;
}

/* Rows of raw images may be padded: to 4 bytes by default. */
static gboolean
write_video (
    const SpdlStacker *self, GstBuffer *item, guint8 *place, GError **error)
{
  const gsize row =
      (gsize) self->info.tensors[0].dims[0] * self->info.tensors[0].dims[1];
  const guint n_rows = self->info.tensors[0].dims[2];
  const GstVideoMeta *meta = gst_buffer_get_video_meta (item);
  const gsize stride =
      meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (&self->video, 0);
  const gsize offset =
      meta ? meta->offset[0] : GST_VIDEO_INFO_PLANE_OFFSET (&self->video, 0);
  const gsize needed = offset + stride * (n_rows - 1) + row;
  GstMapInfo map;

  if (!gst_buffer_map (item, &map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The image's memory cannot be mapped");
    return FALSE;
  }
  if (map.size < needed) {
    const gsize size = map.size;

    gst_buffer_unmap (item, &map);
    return too_small (error, 0, size, needed);
  }
  if (stride == row) {
    memcpy (place, map.data + offset, row * n_rows);
  } else {
    for (guint y = 0; y < n_rows; y++)
      memcpy (place + y * row, map.data + offset + y * stride, row);
  }
  gst_buffer_unmap (item, &map);
  return TRUE;
}

static gboolean
write_tensors (const SpdlStacker *self, GstBuffer *item, guint8 *const *places,
    GError **error)
{
  const guint n = self->info.num_tensors;

  /* A single tensor may lie in several memories; many lie in one each. */
  if (n > 1 && gst_buffer_n_memory (item) != n) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has %u memories for its %u tensors",
        gst_buffer_n_memory (item), n);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    const gsize needed = gst_spdl_tensor_info_get_size (&self->info.tensors[i]);
    gsize skip = 0;

    for (guint m = 0; m < i; m++)
      skip +=
          gst_memory_get_sizes (gst_buffer_peek_memory (item, m), NULL, NULL);
    const gsize size = n == 1
                           ? gst_buffer_get_size (item)
                           : gst_memory_get_sizes (
                                 gst_buffer_peek_memory (item, i), NULL, NULL);
    if (size < needed)
      return too_small (error, i, size, needed);
    gst_buffer_extract (item, skip, places[i], needed);
  }
  return TRUE;
}

gboolean
spdl_stacker_write (const SpdlStacker *self, GstBuffer *item,
    guint8 *const *places, GError **error)
{
  if (self->is_video)
    return write_video (self, item, places[0], error);
  return write_tensors (self, item, places, error);
}

gboolean
spdl_stacker_is_compatible (
    const SpdlStacker *self, const SpdlStacker *item, GError **error)
{
  if (self->info.num_tensors != item->info.num_tensors) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It has %u tensors, but its batch began with items of %u",
        item->info.num_tensors, self->info.num_tensors);
    return FALSE;
  }
  for (guint i = 0; i < self->info.num_tensors; i++) {
    if (gst_spdl_tensor_info_is_equal (
            &self->info.tensors[i], &item->info.tensors[i]))
      continue;
    g_autofree gchar *mine =
        gst_spdl_tensor_info_to_string (&self->info.tensors[i]);
    g_autofree gchar *its =
        gst_spdl_tensor_info_to_string (&item->info.tensors[i]);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It is %s, but its batch began with %s: give all items one size, with "
        "width and height of spdldecode, say",
        its, mine);
    return FALSE;
  }
  return TRUE;
}
