/* gst-spdl: how tensors lie in buffers of given caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdllayout.h"

#define UNLIKE_PIXELS                                            \
  (GST_VIDEO_FORMAT_FLAG_PALETTE | GST_VIDEO_FORMAT_FLAG_TILED | \
      GST_VIDEO_FORMAT_FLAG_COMPLEX)

/* Pixels by their components, all of them in one plane: 8 bits each, or 16 of
 * the machine's byte order. Returns the components of a pixel, padding too, and
 * 0 if it is not so. */
static guint
count_channels (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *format = info->finfo;
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, 0);
  const guint size = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0);
  const gboolean little =
      (GST_VIDEO_FORMAT_INFO_FLAGS (format) & GST_VIDEO_FORMAT_FLAG_LE) != 0;

  if (GST_VIDEO_FORMAT_INFO_N_PLANES (format) != 1 ||
      (GST_VIDEO_FORMAT_INFO_FLAGS (format) & UNLIKE_PIXELS))
    return 0;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != depth ||
        GST_VIDEO_FORMAT_INFO_SHIFT (format, i) != 0 ||
        GST_VIDEO_FORMAT_INFO_W_SUB (format, i) != 0 ||
        GST_VIDEO_FORMAT_INFO_H_SUB (format, i) != 0)
      return 0;
  if (depth == 8)
    return size;
  if (depth == 16 && size % 2 == 0 &&
      little == (G_BYTE_ORDER == G_LITTLE_ENDIAN))
    return size / 2;
  return 0;
}

static GstSpdlLayoutKind
read_video (GstSpdlLayout *self)
{
  guint n_channels;

  if (!gst_video_info_from_caps (&self->video, self->caps) ||
      (n_channels = count_channels (&self->video)) == 0)
    return GST_SPDL_LAYOUT_BYTES;

  const guint32 dims[] = { n_channels, GST_VIDEO_INFO_WIDTH (&self->video),
    GST_VIDEO_INFO_HEIGHT (&self->video) };
  gst_spdl_tensors_info_init (&self->info);
  gst_spdl_tensors_info_add (&self->info,
      GST_VIDEO_INFO_COMP_DEPTH (&self->video, 0) == 8 ? GST_SPDL_TENSOR_UINT8
                                                       : GST_SPDL_TENSOR_UINT16,
      G_N_ELEMENTS (dims), dims);
  return GST_SPDL_LAYOUT_IMAGE;
}

gboolean
gst_spdl_layout_set_caps (GstSpdlLayout *self, GstCaps *caps, GError **error)
{
  const GstStructure *s;

  if (G_LIKELY (self->caps == caps))
    return TRUE;
  gst_spdl_layout_clear (self);
  s = caps && gst_caps_get_size (caps) > 0 ? gst_caps_get_structure (caps, 0)
                                           : NULL;
  if (s && gst_structure_has_name (s, "other/tensors")) {
    if (!gst_spdl_tensors_info_from_caps (&self->info, caps, error))
      return FALSE;
    self->kind = GST_SPDL_LAYOUT_TENSORS;
  }
  self->caps = caps ? gst_caps_ref (caps) : NULL;
  if (s && gst_structure_has_name (s, "video/x-raw"))
    self->kind = read_video (self);
  return TRUE;
}

void
gst_spdl_layout_clear (GstSpdlLayout *self)
{
  gst_clear_caps (&self->caps);
  self->kind = GST_SPDL_LAYOUT_BYTES;
}
