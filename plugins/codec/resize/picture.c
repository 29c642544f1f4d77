/* gst-spdl: conversion of a raw frame to rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/picture.h"

#include "gst/spdl/common/tryallocator.h"

struct _SpdlPicture {
  GstVideoConverter *converter;
  GstVideoInfo in_info;  /* input of the converter */
  GstVideoInfo out_info; /* output of the converter */
  GstBuffer *converted;
};

/* Memory layout of a frame's pixels. */
typedef struct {
  const guint8 *first;
  gssize stride;
  guint pixel_size;
  guint r, g, b, a; /* offsets within a pixel */
  gboolean has_alpha;
} Layout;

SpdlPicture *
spdl_picture_new (void)
{
  return g_new0 (SpdlPicture, 1);
}

void
spdl_picture_free (SpdlPicture *self)
{
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->converted);
  g_free (self);
}

/* Rows */

static inline guint8
blend_sample (guint8 value, guint8 below, guint8 alpha)
{
  return spdl_rows_scale (value, alpha) + spdl_rows_scale (below, 255 - alpha);
}

/* Copies an opaque row, by far the most frequent case. */
static void
copy_row (const Layout *in, const SpdlRows *rows, const guint8 *from,
    guint8 *to, guint n)
{
  const guint first = rows->bgr ? in->b : in->r;
  const guint third = rows->bgr ? in->r : in->b;
  const guint second = in->g;
  const guint step = in->pixel_size;
  const guint to_step = rows->pixel_size;

  for (guint i = 0; i < n; i++) {
    to[0] = from[first];
    to[1] = from[second];
    to[2] = from[third];
    from += step;
    to += to_step;
  }
}

static void
blend_row (const Layout *in, const SpdlRows *rows, const guint8 *from,
    guint8 *to, guint n)
{
  const guint8 r = rows->background >> 16;
  const guint8 g = rows->background >> 8;
  const guint8 b = rows->background;
  const guint red = rows->bgr ? 2 : 0;

  for (guint i = 0; i < n; i++) {
    const guint8 alpha = from[in->a];

    to[red] = blend_sample (from[in->r], r, alpha);
    to[1] = blend_sample (from[in->g], g, alpha);
    to[2 - red] = blend_sample (from[in->b], b, alpha);
    from += in->pixel_size;
    to += rows->pixel_size;
  }
}

static void
write_rows (
    const Layout *layout, guint width, guint height, const SpdlRows *rows)
{
  const guint n = MIN (width, rows->width);

  for (guint y = 0; y < rows->height; y++) {
    guint8 *to = rows->get_row (rows->user_data, y);

    if (n < rows->width || y >= height)
      spdl_rows_fill_row (rows, to);
    if (y < height)
      (layout->has_alpha ? blend_row : copy_row) (
          layout, rows, layout->first + (gssize) y * layout->stride, to, n);
    rows->rows_done (rows->user_data, y + 1);
  }
}

/* Formats */

/* Returns whether pixels can be read without conversion: 8 bits, one plane. */
static gboolean
is_plain (const GstVideoFormatInfo *format)
{
  if (GST_VIDEO_FORMAT_INFO_N_PLANES (format) != 1 ||
      !(GST_VIDEO_FORMAT_INFO_IS_RGB (format) ||
          GST_VIDEO_FORMAT_INFO_IS_GRAY (format)) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != 8 ||
        GST_VIDEO_FORMAT_INFO_SHIFT (format, i) != 0)
      return FALSE;
  return TRUE;
}

static Layout
layout_of (const GstVideoFrame *frame)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const gboolean gray = GST_VIDEO_FORMAT_INFO_IS_GRAY (format);

  return (Layout){ .first = GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
    .stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
    .pixel_size = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0),
    .r = GST_VIDEO_FORMAT_INFO_POFFSET (format, 0),
    .g = GST_VIDEO_FORMAT_INFO_POFFSET (format, gray ? 0 : 1),
    .b = GST_VIDEO_FORMAT_INFO_POFFSET (format, gray ? 0 : 2),
    .a = GST_VIDEO_FORMAT_INFO_POFFSET (format, 3),
    .has_alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format) };
}

/* Sets the colorimetry of a still image. Decoders that do not report it leave
 * GStreamer's defaults for video: a matrix that depends on the size, and
 * limited range for gray. Still images are BT.601; RGB and gray are full
 * range. */
static void
set_colorimetry (GstVideoInfo *info)
{
  GstVideoColorimetry *colors = &info->colorimetry;

  colors->matrix = GST_VIDEO_INFO_IS_RGB (info) ? GST_VIDEO_COLOR_MATRIX_RGB
                                                : GST_VIDEO_COLOR_MATRIX_BT601;
  if (!GST_VIDEO_INFO_IS_YUV (info))
    colors->range = GST_VIDEO_COLOR_RANGE_0_255;
  colors->transfer = GST_VIDEO_TRANSFER_SRGB;
  colors->primaries = GST_VIDEO_COLOR_PRIMARIES_BT709;
}

/* A converter takes the lines of a frame of fewer rows from the frame before,
 * because it finds their numbers in its cache. */
#define LEAST_REUSE 8

/* Creates or reuses the converter. Returns FALSE if GstVideoConverter does not
 * support the format. */
static gboolean
ensure_converter (
    SpdlPicture *self, const GstVideoInfo *info, gboolean is_video)
{
  GstVideoInfo in_info = *info;
  GstStructure *options;

  if (!is_video)
    set_colorimetry (&in_info);
  /* Same chroma site as in the path for 8-bit planes. Moreover,
   * GstVideoConverter is wrong by up to 100 of 255 with cosited 16-bit
   * chroma. */
  in_info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  if (self->converter && gst_video_info_is_equal (&in_info, &self->in_info) &&
      GST_VIDEO_INFO_HEIGHT (info) >= LEAST_REUSE)
    return TRUE;
  g_clear_pointer (&self->converter, gst_video_converter_free);
  gst_clear_buffer (&self->converted);
  self->in_info = in_info;
  gst_video_info_set_format (&self->out_info,
      GST_VIDEO_INFO_HAS_ALPHA (info) ? GST_VIDEO_FORMAT_RGBA
                                      : GST_VIDEO_FORMAT_RGBx,
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
  self->out_info.fps_n = in_info.fps_n;
  self->out_info.fps_d = in_info.fps_d;
  self->out_info.interlace_mode = in_info.interlace_mode;
  options = gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_DITHER_METHOD,
      GST_TYPE_VIDEO_DITHER_METHOD, GST_VIDEO_DITHER_NONE, NULL);
  self->converter =
      gst_video_converter_new (&self->in_info, &self->out_info, options);
  return self->converter != NULL;
}

static gboolean
write_converted (SpdlPicture *self, GstVideoFrame *in, const SpdlFrame *frame,
    const SpdlRows *rows, GError **error)
{
  GstVideoFrame out;
  Layout layout;

  if (!ensure_converter (self, &in->info, frame->is_video)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Decoded format %s cannot be converted",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&in->info)));
    return FALSE;
  }
  if (!self->converted)
    self->converted =
        gst_spdl_buffer_try_new (GST_VIDEO_INFO_SIZE (&self->out_info));
  if (!self->converted || !gst_video_frame_map (&out, &self->out_info,
                              self->converted, GST_MAP_READWRITE)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory to convert a frame of %d by %d",
        GST_VIDEO_INFO_WIDTH (&in->info), GST_VIDEO_INFO_HEIGHT (&in->info));
    return FALSE;
  }
  gst_video_converter_frame (self->converter, in, &out);
  layout = layout_of (&out);
  layout.has_alpha = layout.has_alpha && !frame->opaque;
  write_rows (&layout, GST_VIDEO_FRAME_WIDTH (in), frame->n_rows, rows);
  gst_video_frame_unmap (&out);
  return TRUE;
}

void
spdl_picture_describe (const GstVideoInfo *info, guint *depth, guint *channels,
    gboolean *has_palette)
{
  *has_palette = GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info->finfo);
  *channels = *has_palette ? 1 : GST_VIDEO_INFO_N_COMPONENTS (info);
  *depth = *has_palette ? 8 : GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  /* Several pixels in a word. */
  if (*channels == 1 &&
      GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) != ((gint) *depth + 7) / 8)
    *channels = 0;
}

/* Writes the first plane, of one channel. */
static void
write_samples (const GstVideoFrame *frame, guint n_rows, const SpdlRows *rows)
{
  const gboolean is_big = !(GST_VIDEO_FORMAT_INFO_FLAGS (frame->info.finfo) &
                            GST_VIDEO_FORMAT_FLAG_LE);
  const gboolean swaps = rows->pixels == SPDL_PIXELS_GRAY16 &&
                         is_big == (G_BYTE_ORDER == G_LITTLE_ENDIAN);

  n_rows = MIN (n_rows, rows->height);
  for (guint y = 0; y < n_rows; y++) {
    const guint8 *from =
        (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
    guint8 *to = rows->get_row (rows->user_data, y);

    memcpy (to, from, rows->width * (gsize) rows->pixel_size);
    for (gsize x = 0; swaps && x < rows->width; x++)
      GST_WRITE_UINT16_LE (to + 2 * x, GST_READ_UINT16_BE (to + 2 * x));
    rows->rows_done (rows->user_data, y + 1);
  }
  spdl_rows_fill (rows, n_rows);
}

gboolean
spdl_picture_write (SpdlPicture *self, const SpdlFrame *frame,
    const SpdlRows *rows, GError **error)
{
  GstVideoInfo info = *frame->info;
  gboolean ok = TRUE;
  GstVideoFrame in;

  /* As in the path for 8-bit planes. GstVideoConverter would take the chroma of
   * the two fields apart. */
  if (GST_VIDEO_INFO_INTERLACE_MODE (&info) !=
      GST_VIDEO_INTERLACE_MODE_ALTERNATE)
    GST_VIDEO_INFO_INTERLACE_MODE (&info) =
        GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  if (!gst_video_frame_map (&in, &info, frame->buffer, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map the decoded frame");
    return FALSE;
  }
  if (rows->pixels != SPDL_PIXELS_COLOR) {
    write_samples (&in, frame->n_rows, rows);
  } else if (is_plain (info.finfo)) {
    Layout layout = layout_of (&in);

    layout.has_alpha = layout.has_alpha && !frame->opaque;
    write_rows (&layout, GST_VIDEO_FRAME_WIDTH (&in), frame->n_rows, rows);
  } else {
    ok = write_converted (self, &in, frame, rows, error);
  }
  gst_video_frame_unmap (&in);
  return ok;
}
