/* gst-spdl: from decoded rows to the result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlcanvas.h"

#include "spdlorientation.h"
#include "spdlresize.h"

G_STATIC_ASSERT (SPDL_ROWS_AHEAD <= SPDL_RESIZE_AHEAD);

struct _SpdlCanvas {
  SpdlResize *resize;
  GstCaps *own_caps; /* of the last image of its own size */
  GstVideoInfo own_info;
  guint8 *scratch; /* what is yet to be turned */
  gsize scratch_size;

  /* The image in hand. */
  const GstVideoInfo *info;
  GstCaps *caps; /* not owned */
  GstBuffer *buffer;
  GstMapInfo map;
  guint orientation;
  guint drawn_width, drawn_height; /* before it is turned */
  guint8 *drawn;
  gsize drawn_stride;
  SpdlRows rows;
};

SpdlCanvas *
spdl_canvas_new (void)
{
  SpdlCanvas *self = g_new0 (SpdlCanvas, 1);

  self->resize = spdl_resize_new ();
  return self;
}

void
spdl_canvas_free (SpdlCanvas *self)
{
  spdl_resize_free (self->resize);
  gst_clear_caps (&self->own_caps);
  g_free (self->scratch);
  g_free (self);
}

/* Rows on their way */

static guint8 *
get_row_resized (gpointer user_data, guint y)
{
  return spdl_resize_get_row (((SpdlCanvas *) user_data)->resize, y);
}

static void
rows_done_resized (gpointer user_data, guint y_end)
{
  spdl_resize_rows_done (((SpdlCanvas *) user_data)->resize, y_end);
}

static guint8 *
get_row_as_is (gpointer user_data, guint y)
{
  const SpdlCanvas *self = user_data;

  return self->drawn + y * self->drawn_stride;
}

static void
rows_done_as_is (gpointer user_data, guint y_end)
{
}

/* Beginning */

static gboolean
no_memory (const SpdlCanvas *self, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "There is no memory for an image of %d by %d",
      GST_VIDEO_INFO_WIDTH (self->info), GST_VIDEO_INFO_HEIGHT (self->info));
  return FALSE;
}

/* Caps of an image that keeps its own size, or one of its sides. */
static gboolean
set_own_size (SpdlCanvas *self, const SpdlTarget *target, guint width,
    guint height, GError **error)
{
  GstVideoInfo *info = &self->own_info;

  width = target->width ? target->width : width;
  height = target->height ? target->height : height;
  if (!spdl_target_check_size (width, height, target->max_pixels, error))
    return FALSE;
  if (!self->own_caps || (guint) GST_VIDEO_INFO_WIDTH (info) != width ||
      (guint) GST_VIDEO_INFO_HEIGHT (info) != height ||
      GST_VIDEO_INFO_FORMAT (info) != target->format) {
    spdl_target_set_info (info, target->format, width, height);
    gst_caps_take (&self->own_caps, gst_video_info_to_caps (info));
  }
  self->info = info;
  self->caps = self->own_caps;
  return TRUE;
}

/* @width, @height: upright. */
static gboolean
make_buffer (SpdlCanvas *self, const SpdlTarget *target, guint width,
    guint height, GError **error)
{
  self->buffer = NULL;
  if (target->pool) {
    self->info = &target->info;
    self->caps = target->caps;
    gst_buffer_pool_acquire_buffer (target->pool, &self->buffer, NULL);
  } else {
    if (!set_own_size (self, target, width, height, error))
      return FALSE;
    self->buffer =
        gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (self->info), NULL);
  }
  if (!self->buffer)
    return no_memory (self, error);
  if (gst_buffer_map (self->buffer, &self->map, GST_MAP_WRITE))
    return TRUE;
  gst_clear_buffer (&self->buffer);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
      "The memory for its pixels cannot be mapped");
  return FALSE;
}

/* Where pixels are drawn: in the buffer, or where they wait to be turned. */
static gboolean
set_drawn (SpdlCanvas *self)
{
  const guint width = GST_VIDEO_INFO_WIDTH (self->info);
  const guint height = GST_VIDEO_INFO_HEIGHT (self->info);
  const gboolean swaps = spdl_orientation_swaps_sides (self->orientation);
  gsize size;

  self->drawn_width = swaps ? height : width;
  self->drawn_height = swaps ? width : height;
  if (self->orientation == 1) {
    self->drawn = self->map.data;
    self->drawn_stride = GST_VIDEO_INFO_PLANE_STRIDE (self->info, 0);
    return TRUE;
  }
  self->drawn_stride = (gsize) self->drawn_width * 3;
  size = self->drawn_stride * self->drawn_height;
  if (size > self->scratch_size) {
    g_free (self->scratch);
    self->scratch = g_try_malloc (size);
    self->scratch_size = self->scratch ? size : 0;
  }
  self->drawn = self->scratch;
  return self->drawn != NULL;
}

static gboolean
set_rows (SpdlCanvas *self, const SpdlTarget *target, guint width, guint height)
{
  SpdlRows *rows = &self->rows;

  rows->user_data = self;
  rows->width = width;
  rows->height = height;
  rows->bgr = target->format == GST_VIDEO_FORMAT_BGR;
  rows->background = target->background;
  if (width == self->drawn_width && height == self->drawn_height) {
    rows->get_row = get_row_as_is;
    rows->rows_done = rows_done_as_is;
    rows->pixel_size = 3;
    return TRUE;
  }
  rows->get_row = get_row_resized;
  rows->rows_done = rows_done_resized;
  rows->pixel_size = 4;
  return spdl_resize_begin (
      self->resize, &(SpdlResizeJob){
                        .interpolation = SPDL_INTERPOLATION_BILINEAR,
                        .pixel_size = rows->pixel_size,
                        .width = width,
                        .height = height,
                        .out_width = self->drawn_width,
                        .out_height = self->drawn_height,
                        .out = self->drawn,
                        .out_stride = self->drawn_stride,
                    });
}

const SpdlRows *
spdl_canvas_begin (SpdlCanvas *self, const SpdlTarget *target, guint width,
    guint height, guint orientation, GError **error)
{
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);

  self->orientation = orientation;
  if (!make_buffer (
          self, target, swaps ? height : width, swaps ? width : height, error))
    return NULL;
  if (set_drawn (self) && set_rows (self, target, width, height))
    return &self->rows;
  no_memory (self, error);
  spdl_canvas_cancel (self);
  return NULL;
}

/* Ending */

GstBuffer *
spdl_canvas_end (SpdlCanvas *self, GstCaps **caps)
{
  if (self->orientation != 1)
    spdl_orientation_apply (self->orientation, self->drawn, self->drawn_width,
        self->drawn_height, self->drawn_stride, self->map.data,
        GST_VIDEO_INFO_PLANE_STRIDE (self->info, 0));
  gst_buffer_unmap (self->buffer, &self->map);
  *caps = self->caps;
  return g_steal_pointer (&self->buffer);
}

void
spdl_canvas_cancel (SpdlCanvas *self)
{
  gst_buffer_unmap (self->buffer, &self->map);
  gst_clear_buffer (&self->buffer);
}
