/* gst-spdl: frames of libavcodec as buffers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/videoframe.h"

#include <libavutil/pixdesc.h>

/* The formats whose names differ; libavutil's name for the byte order of the
 * machine has no suffix here. */
static GstVideoFormat
find_format (enum AVPixelFormat format)
{
  static const struct {
    enum AVPixelFormat from;
    GstVideoFormat to;
  } formats[] = {
    { AV_PIX_FMT_YUV420P, GST_VIDEO_FORMAT_I420 },
    { AV_PIX_FMT_YUVJ420P, GST_VIDEO_FORMAT_I420 },
    { AV_PIX_FMT_YUV420P10LE, GST_VIDEO_FORMAT_I420_10LE },
    { AV_PIX_FMT_YUV420P10BE, GST_VIDEO_FORMAT_I420_10BE },
    { AV_PIX_FMT_YUV420P12LE, GST_VIDEO_FORMAT_I420_12LE },
    { AV_PIX_FMT_YUV420P12BE, GST_VIDEO_FORMAT_I420_12BE },
    { AV_PIX_FMT_YUV422P, GST_VIDEO_FORMAT_Y42B },
    { AV_PIX_FMT_YUVJ422P, GST_VIDEO_FORMAT_Y42B },
    { AV_PIX_FMT_YUV422P10LE, GST_VIDEO_FORMAT_I422_10LE },
    { AV_PIX_FMT_YUV422P10BE, GST_VIDEO_FORMAT_I422_10BE },
    { AV_PIX_FMT_YUV422P12LE, GST_VIDEO_FORMAT_I422_12LE },
    { AV_PIX_FMT_YUV422P12BE, GST_VIDEO_FORMAT_I422_12BE },
    { AV_PIX_FMT_YUV444P, GST_VIDEO_FORMAT_Y444 },
    { AV_PIX_FMT_YUVJ444P, GST_VIDEO_FORMAT_Y444 },
    { AV_PIX_FMT_YUV444P10LE, GST_VIDEO_FORMAT_Y444_10LE },
    { AV_PIX_FMT_YUV444P10BE, GST_VIDEO_FORMAT_Y444_10BE },
    { AV_PIX_FMT_YUV444P12LE, GST_VIDEO_FORMAT_Y444_12LE },
    { AV_PIX_FMT_YUV444P12BE, GST_VIDEO_FORMAT_Y444_12BE },
    { AV_PIX_FMT_YUV444P16LE, GST_VIDEO_FORMAT_Y444_16LE },
    { AV_PIX_FMT_YUV444P16BE, GST_VIDEO_FORMAT_Y444_16BE },
    { AV_PIX_FMT_YUV411P, GST_VIDEO_FORMAT_Y41B },
    { AV_PIX_FMT_YUV410P, GST_VIDEO_FORMAT_YUV9 },
    { AV_PIX_FMT_YUVA420P, GST_VIDEO_FORMAT_A420 },
    { AV_PIX_FMT_YUVA420P10LE, GST_VIDEO_FORMAT_A420_10LE },
    { AV_PIX_FMT_YUVA422P10LE, GST_VIDEO_FORMAT_A422_10LE },
    { AV_PIX_FMT_YUVA444P10LE, GST_VIDEO_FORMAT_A444_10LE },
    { AV_PIX_FMT_NV12, GST_VIDEO_FORMAT_NV12 },
    { AV_PIX_FMT_NV21, GST_VIDEO_FORMAT_NV21 },
    { AV_PIX_FMT_YUYV422, GST_VIDEO_FORMAT_YUY2 },
    { AV_PIX_FMT_YVYU422, GST_VIDEO_FORMAT_YVYU },
    { AV_PIX_FMT_UYVY422, GST_VIDEO_FORMAT_UYVY },
    { AV_PIX_FMT_GRAY8, GST_VIDEO_FORMAT_GRAY8 },
    { AV_PIX_FMT_GRAY16LE, GST_VIDEO_FORMAT_GRAY16_LE },
    { AV_PIX_FMT_GRAY16BE, GST_VIDEO_FORMAT_GRAY16_BE },
    { AV_PIX_FMT_PAL8, GST_VIDEO_FORMAT_RGB8P },
    { AV_PIX_FMT_RGB24, GST_VIDEO_FORMAT_RGB },
    { AV_PIX_FMT_BGR24, GST_VIDEO_FORMAT_BGR },
    { AV_PIX_FMT_RGBA, GST_VIDEO_FORMAT_RGBA },
    { AV_PIX_FMT_BGRA, GST_VIDEO_FORMAT_BGRA },
    { AV_PIX_FMT_ARGB, GST_VIDEO_FORMAT_ARGB },
    { AV_PIX_FMT_ABGR, GST_VIDEO_FORMAT_ABGR },
    { AV_PIX_FMT_RGB0, GST_VIDEO_FORMAT_RGBx },
    { AV_PIX_FMT_BGR0, GST_VIDEO_FORMAT_BGRx },
    { AV_PIX_FMT_0RGB, GST_VIDEO_FORMAT_xRGB },
    { AV_PIX_FMT_0BGR, GST_VIDEO_FORMAT_xBGR },
    { AV_PIX_FMT_RGB565LE, GST_VIDEO_FORMAT_RGB16 },
    { AV_PIX_FMT_RGB555LE, GST_VIDEO_FORMAT_RGB15 },
    { AV_PIX_FMT_RGBA64LE, GST_VIDEO_FORMAT_RGBA64_LE },
    { AV_PIX_FMT_RGBA64BE, GST_VIDEO_FORMAT_RGBA64_BE },
    { AV_PIX_FMT_GBRP, GST_VIDEO_FORMAT_GBR },
    { AV_PIX_FMT_GBRP10LE, GST_VIDEO_FORMAT_GBR_10LE },
    { AV_PIX_FMT_GBRP10BE, GST_VIDEO_FORMAT_GBR_10BE },
    { AV_PIX_FMT_GBRP12LE, GST_VIDEO_FORMAT_GBR_12LE },
    { AV_PIX_FMT_GBRP12BE, GST_VIDEO_FORMAT_GBR_12BE },
    { AV_PIX_FMT_GBRAP, GST_VIDEO_FORMAT_GBRA },
    { AV_PIX_FMT_GBRAP10LE, GST_VIDEO_FORMAT_GBRA_10LE },
    { AV_PIX_FMT_GBRAP12LE, GST_VIDEO_FORMAT_GBRA_12LE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].from == format)
      return formats[i].to;
  return GST_VIDEO_FORMAT_UNKNOWN;
}

static void
set_colors (GstVideoInfo *info, const AVFrame *frame)
{
  GstVideoColorimetry *colors = &info->colorimetry;
  const GstVideoColorMatrix matrix =
      gst_video_color_matrix_from_iso (frame->colorspace);
  const AVPixFmtDescriptor *format = av_pix_fmt_desc_get (frame->format);

  if (!GST_VIDEO_INFO_IS_YUV (info))
    return;
  if (matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      matrix != GST_VIDEO_COLOR_MATRIX_RGB)
    colors->matrix = matrix;
  if (frame->color_range == AVCOL_RANGE_JPEG ||
      g_str_has_prefix (format->name, "yuvj"))
    colors->range = GST_VIDEO_COLOR_RANGE_0_255;
  else if (frame->color_range == AVCOL_RANGE_MPEG)
    colors->range = GST_VIDEO_COLOR_RANGE_16_235;
}

/* Returns whether GStreamer can address the planes. Pictures whose last row is
 * first in memory have a negative stride. */
static gboolean
is_upright (const AVFrame *frame, guint n_planes)
{
  for (guint i = 0; i < n_planes; i++)
    if (frame->linesize[i] < 0)
      return FALSE;
  return TRUE;
}

static void
free_frame (gpointer data)
{
  AVFrame *frame = data;

  av_frame_free (&frame);
}

static GstBuffer *
wrap_planes (const AVFrame *frame, const GstVideoInfo *info, AVFrame *owner)
{
  GstBuffer *buffer = gst_buffer_new ();
  const guint n = GST_VIDEO_INFO_N_PLANES (info);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, at = 0;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };

  for (guint i = 0; i < n; i++) {
    const gboolean is_palette =
        i == 1 && GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info->finfo);
    const gsize size =
        is_palette ? AVPALETTE_SIZE
                   : (gsize) frame->linesize[i] *
                         GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (
                             info->finfo, i, GST_VIDEO_INFO_HEIGHT (info));

    offset[i] = at;
    stride[i] = is_palette ? AVPALETTE_SIZE : frame->linesize[i];
    gst_buffer_append_memory (
        buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY,
                    frame->data[i], size, 0, size, i == 0 ? owner : NULL,
                    i == 0 && owner ? free_frame : NULL));
    at += size;
  }
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), n, offset, stride);
  return buffer;
}

/* Returns FALSE if GStreamer has no such format. */
static gboolean
describe_frame (const AVFrame *frame, GstVideoInfo *info)
{
  const GstVideoFormat format = find_format (frame->format);

  if (format == GST_VIDEO_FORMAT_UNKNOWN ||
      !gst_video_info_set_format (info, format, frame->width, frame->height))
    return FALSE;
  set_colors (info, frame);
  return TRUE;
}

GstBuffer *
spdl_video_frame_take (AVFrame *frame, GstVideoInfo *info)
{
  if (describe_frame (frame, info) &&
      is_upright (frame, GST_VIDEO_INFO_N_PLANES (info)))
    return wrap_planes (frame, info, frame);
  av_frame_free (&frame);
  return NULL;
}

GstBuffer *
spdl_video_frame_wrap (const AVFrame *frame, GstVideoInfo *info)
{
  AVFrame *copy;

  if (!describe_frame (frame, info))
    return NULL;
  if (is_upright (frame, GST_VIDEO_INFO_N_PLANES (info)))
    return wrap_planes (frame, info, NULL);
  copy = av_frame_alloc ();
  if (copy) {
    copy->format = frame->format;
    copy->width = frame->width;
    copy->height = frame->height;
    if (av_frame_get_buffer (copy, 0) >= 0 && av_frame_copy (copy, frame) >= 0)
      return wrap_planes (copy, info, copy);
  }
  av_frame_free (&copy);
  return NULL;
}
