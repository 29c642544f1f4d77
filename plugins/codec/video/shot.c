/* gst-spdl: from a video's frame to an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/shot.h"

#include <string.h>

/* Rows that are given on at a time. */
#define N_ROWS 16

/* Whether each component is a plane of bytes, and none less than half as wide
 * and as high as the image. */
static gboolean
get_sampling (const GstVideoInfo *info, SpdlSampling *sampling)
{
  const GstVideoFormatInfo *format = info->finfo;

  if (!(GST_VIDEO_FORMAT_INFO_IS_YUV (format) ||
          GST_VIDEO_FORMAT_INFO_IS_GRAY (format)) ||
      GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format))
    return FALSE;
  sampling->n_planes = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format);
  if (sampling->n_planes != GST_VIDEO_FORMAT_INFO_N_PLANES (format))
    return FALSE;
  for (guint i = 0; i < sampling->n_planes; i++) {
    if (GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != 8 ||
        GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) != 1 ||
        GST_VIDEO_FORMAT_INFO_W_SUB (format, i) > 1 ||
        GST_VIDEO_FORMAT_INFO_H_SUB (format, i) > 1)
      return FALSE;
    sampling->half_x[i] = GST_VIDEO_FORMAT_INFO_W_SUB (format, i) == 1;
    sampling->half_y[i] = GST_VIDEO_FORMAT_INFO_H_SUB (format, i) == 1;
  }
  return TRUE;
}

/* As the decoder says; a matrix that is none is BT.601's. */
static void
get_colors (const GstVideoInfo *info, SpdlColors *colors)
{
  const GstVideoColorimetry *colorimetry = &info->colorimetry;
  double kr, kb;

  if (!gst_video_color_matrix_get_Kr_Kb (colorimetry->matrix, &kr, &kb)) {
    kr = 0.299;
    kb = 0.114;
  }
  spdl_colors_init (
      colors, kr, kb, colorimetry->range == GST_VIDEO_COLOR_RANGE_0_255);
}

static void
write_plane (const SpdlPlanes *planes, const SpdlSampling *sampling,
    const GstVideoFrame *frame, guint i)
{
  const guint half_x = sampling->half_x[i], half_y = sampling->half_y[i];
  const guint x = planes->x_begin >> half_x;
  const guint n = ((planes->x_end + half_x) >> half_x) - x;
  const guint end = (planes->y_end + half_y) >> half_y;
  const guint8 *data = GST_VIDEO_FRAME_COMP_DATA (frame, i);
  const gsize stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, i);

  for (guint y = planes->y_begin >> half_y; y < end; y++) {
    memcpy (planes->get_row (planes->user_data, i, y) + x,
        data + y * stride + x, n);
    if (y % N_ROWS == N_ROWS - 1 || y + 1 == end)
      planes->rows_done (planes->user_data, i, y + 1);
  }
}

static GstBuffer *
draw_planes (const SpdlFrame *frame, const SpdlSampling *sampling,
    SpdlCanvas *canvas, const SpdlTarget *target, const SpdlView *view,
    GstCaps **caps, GError **error)
{
  const SpdlPlanes *planes =
      spdl_canvas_begin_planes (canvas, target, view, 1, sampling, error);
  SpdlColors colors;
  GstVideoFrame in;

  if (!planes)
    return NULL;
  if (!gst_video_frame_map (&in, frame->info, frame->buffer, GST_MAP_READ)) {
    spdl_canvas_cancel (canvas);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "What was decoded of it cannot be mapped");
    return NULL;
  }
  get_colors (frame->info, &colors);
  spdl_canvas_set_colors (canvas, &colors);
  for (guint i = 0; i < sampling->n_planes; i++)
    write_plane (planes, sampling, &in, i);
  gst_video_frame_unmap (&in);
  return spdl_canvas_end (canvas, caps);
}

static GstBuffer *
draw_rows (const SpdlFrame *frame, SpdlCanvas *canvas, SpdlPicture *picture,
    const SpdlTarget *target, const SpdlView *view, GstCaps **caps,
    GError **error)
{
  const SpdlRows *rows = spdl_canvas_begin (canvas, target, view, 1, error);

  if (!rows)
    return NULL;
  if (spdl_picture_write (picture, frame, rows, error))
    return spdl_canvas_end (canvas, caps);
  spdl_canvas_cancel (canvas);
  return NULL;
}

GstBuffer *
spdl_shot_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlTarget *target, const SpdlView *view,
    GstCaps **caps, GError **error)
{
  SpdlSampling sampling;

  if (target->interpolation != SPDL_INTERPOLATION_NEAREST &&
      get_sampling (frame->info, &sampling))
    return draw_planes (frame, &sampling, canvas, target, view, caps, error);
  return draw_rows (frame, canvas, picture, target, view, caps, error);
}
