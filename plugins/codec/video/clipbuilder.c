/* gst-spdl: frame selection and assembly of video clips
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/clipbuilder.h"

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/tryallocator.h"

/* Number of rows passed to the canvas at a time. */
#define N_ROWS 16

/* Frame selection */

void
spdl_frame_selection_init (SpdlFrameSelection *self)
{
  self->ranks = g_array_new (FALSE, TRUE, sizeof (guint));
  self->sorted = g_array_new (FALSE, TRUE, sizeof (guint));
}

void
spdl_frame_selection_clear (SpdlFrameSelection *self)
{
  g_array_unref (self->ranks);
  g_array_unref (self->sorted);
}

/* Returns the frame shown at @time: the last one that starts at or before
 * it. */
static guint
find_rank (const SpdlVideoTable *table, GstClockTime time)
{
  guint from = 0, to = table->times->len;

  while (to - from > 1) {
    const guint middle = from + (to - from) / 2;

    if (g_array_index (table->times, GstClockTime, middle) <= time)
      from = middle;
    else
      to = middle;
  }
  return from;
}

/* Selects the frames at the given times. Times after the end of the video have
 * no frame. */
static guint
choose_times (
    SpdlFrameSelection *self, const SpdlVideoTable *table, const GArray *times)
{
  guint *ranks = (guint *) self->ranks->data;
  guint n = 0;

  for (guint i = 0; i < times->len; i++) {
    const GstClockTime time = g_array_index (times, GstClockTime, i);

    if (!GST_CLOCK_TIME_IS_VALID (table->end) || time < table->end || time == 0)
      ranks[n++] = find_rank (table, time);
  }
  return n;
}

static gint
compare_ranks (gconstpointer a, gconstpointer b)
{
  const guint rank = *(const guint *) a, other = *(const guint *) b;

  return rank < other ? -1 : rank > other;
}

static void
sort_ranks (SpdlFrameSelection *self)
{
  guint n = 0;
  guint *sorted;

  g_array_set_size (self->sorted, 0);
  g_array_append_vals (self->sorted, self->ranks->data, self->ranks->len);
  g_array_sort (self->sorted, compare_ranks);
  sorted = (guint *) self->sorted->data;
  for (guint i = 0; i < self->ranks->len; i++)
    if (n == 0 || sorted[i] != sorted[n - 1])
      sorted[n++] = sorted[i];
  g_array_set_size (self->sorted, n);
}

gboolean
spdl_frame_selection_make (SpdlFrameSelection *self, const SpdlClip *clip,
    const SpdlVideoTable *table, const GArray *times,
    const SpdlFrameSelectionKey *key, GError **error)
{
  const guint n_frames = table->times->len;
  guint n_own;

  self->n_frames = MAX (clip->num_frames, 1);
  g_array_set_size (self->ranks, self->n_frames);
  n_own = times ? choose_times (self, table, times)
                : spdl_clip_choose (clip, key->seed, key->epoch, key->index,
                      n_frames, (guint *) self->ranks->data);
  if (n_own == 0 ||
      (n_own < self->n_frames && clip->pad == SPDL_CLIP_PAD_FAIL)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Video has %u frames, so a clip of %u would have only %u distinct "
        "frames",
        n_frames, self->n_frames, n_own);
    return FALSE;
  }
  g_array_set_size (self->ranks, n_own);
  sort_ranks (self);
  return TRUE;
}

/* Clips */

static void
clear_pool (SpdlClipBuilder *self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  gst_clear_caps (&self->caps);
}

void
spdl_clip_builder_clear (SpdlClipBuilder *self)
{
  spdl_clip_builder_cancel (self);
  clear_pool (self);
}

static gsize
get_frame_size (const SpdlClipBuilder *self)
{
  return (gsize) self->width * self->height * self->n_channels;
}

static guint
get_n_channels (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
}

static gboolean
is_same (const SpdlClipBuilder *self, const GstVideoInfo *info)
{
  return self->width == (guint) GST_VIDEO_INFO_WIDTH (info) &&
         self->height == (guint) GST_VIDEO_INFO_HEIGHT (info) &&
         self->n_channels == get_n_channels (info);
}

static gboolean
no_memory (const SpdlClipBuilder *self, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for a clip of %u images of %u by %u", self->n_frames,
      self->width, self->height);
  return FALSE;
}

static gboolean
make_pool (SpdlClipBuilder *self)
{
  const guint32 dims[] = { self->n_channels, self->width, self->height,
    self->n_frames };
  const gsize size = get_frame_size (self) * self->n_frames;
  GstSpdlTensorsInfo info;

  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (
      &info, GST_SPDL_TENSOR_UINT8, G_N_ELEMENTS (dims), dims);
  self->caps = gst_spdl_tensors_info_to_caps (&info);
  /* No upper bound: a worker thread must not wait for downstream. */
  self->pool = gst_spdl_try_pool_new (self->caps, size);
  return self->pool != NULL;
}

gboolean
spdl_clip_builder_begin (SpdlClipBuilder *self, const GstVideoInfo *info,
    guint n_frames, GError **error)
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
spdl_clip_builder_put (SpdlClipBuilder *self, guint i, GstBuffer *image,
    const GstVideoInfo *info, GError **error)
{
  const gsize row = (gsize) self->width * self->n_channels;
  const gsize stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  guint8 *to = self->map.data + i * get_frame_size (self);
  GstMapInfo map;

  if (!is_same (self, info)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The frames of the video differ in size: set width and height");
    return FALSE;
  }
  if (!gst_buffer_map (image, &map, GST_MAP_READ)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map a decoded frame");
    return FALSE;
  }
  for (guint y = 0; y < self->height; y++)
    memcpy (to + y * row, map.data + y * stride, row);
  gst_buffer_unmap (image, &map);
  return TRUE;
}

void
spdl_clip_builder_repeat (SpdlClipBuilder *self, guint i, guint from)
{
  const gsize size = get_frame_size (self);

  memcpy (self->map.data + i * size, self->map.data + from * size, size);
}

GstBuffer *
spdl_clip_builder_end (SpdlClipBuilder *self, GstCaps **caps)
{
  gst_buffer_unmap (self->buffer, &self->map);
  *caps = self->caps;
  return g_steal_pointer (&self->buffer);
}

void
spdl_clip_builder_cancel (SpdlClipBuilder *self)
{
  if (!self->buffer)
    return;
  gst_buffer_unmap (self->buffer, &self->map);
  gst_clear_buffer (&self->buffer);
}

/* Returns whether the format is planar 8-bit YUV or gray with chroma subsampled
 * by at most two. */
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

/* Initializes the conversion from the colorimetry of @info. An unknown matrix
 * is treated as BT.601. */
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
    SpdlCanvas *canvas, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, GstCaps **caps, GError **error)
{
  const SpdlPlanes *planes =
      spdl_canvas_begin_planes (canvas, config, transform, 1, sampling, error);
  SpdlColors colors;
  GstVideoFrame in;

  if (!planes)
    return NULL;
  if (!gst_video_frame_map (&in, frame->info, frame->buffer, GST_MAP_READ)) {
    spdl_canvas_cancel (canvas);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Failed to map a decoded frame");
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
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    GstCaps **caps, GError **error)
{
  const SpdlRows *rows =
      spdl_canvas_begin (canvas, config, transform, 1, error);

  if (!rows)
    return NULL;
  if (spdl_picture_write (picture, frame, rows, error))
    return spdl_canvas_end (canvas, caps);
  spdl_canvas_cancel (canvas);
  return NULL;
}

GstBuffer *
spdl_clip_builder_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, GstCaps **caps, GError **error)
{
  SpdlSampling sampling;

  if (config->interpolation != SPDL_INTERPOLATION_NEAREST &&
      get_sampling (frame->info, &sampling))
    return draw_planes (
        frame, &sampling, canvas, config, transform, caps, error);
  return draw_rows (frame, canvas, picture, config, transform, caps, error);
}
