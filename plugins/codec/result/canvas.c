/* gst-spdl: canvas that resizes and rotates decoded rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/canvas.h"

#include <string.h>

#include "gst/spdl/common/tryallocator.h"
#include "plugins/codec/resize/orientation.h"
#include "plugins/codec/resize/planejoin.h"
#include "plugins/codec/resize/resize.h"

G_STATIC_ASSERT (SPDL_ROWS_AHEAD <= SPDL_RESIZE_AHEAD);

struct _SpdlCanvas {
  SpdlResize *resize;
  SpdlPlaneJoin *join;
  GstCaps *own_caps; /* caps of the last image without a negotiated size */
  GstVideoInfo own_info;
  guint8 *scratch; /* resized image before rotation or conversion to gray */
  gsize scratch_size;

  /* The current image. */
  const GstVideoInfo *info;
  GstCaps *caps; /* not owned */
  GstBuffer *buffer;
  GstMapInfo map;
  const SpdlImageTransform *transform;
  guint reduction;
  guint8 *drawn;
  gsize drawn_stride;
  SpdlRows rows;
  const SpdlPlanes *planes; /* NULL: pixels arrive as rows */
  gboolean is_plane;        /* the rows have one channel, and are resized */
};

SpdlCanvas *
spdl_canvas_new (void)
{
  SpdlCanvas *self = g_new0 (SpdlCanvas, 1);

  self->resize = spdl_resize_new (NULL);
  self->join = spdl_plane_join_new ();
  return self;
}

void
spdl_canvas_free (SpdlCanvas *self)
{
  spdl_resize_free (self->resize);
  spdl_plane_join_free (self->join);
  gst_clear_caps (&self->own_caps);
  g_free (self->scratch);
  g_free (self);
}

/* Row callbacks */

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

static guint8 *
get_row_plane (gpointer user_data, guint y)
{
  return spdl_resize_get_plane_row (((SpdlCanvas *) user_data)->resize, y);
}

/* Start of an image */

static gboolean
no_memory (const SpdlCanvas *self, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for an image of %d by %d",
      GST_VIDEO_INFO_WIDTH (self->info), GST_VIDEO_INFO_HEIGHT (self->info));
  return FALSE;
}

/* Sets info and caps for an image whose size is not negotiated. */
static gboolean
set_own_size (SpdlCanvas *self, const SpdlDecodeConfig *config, guint width,
    guint height, GError **error)
{
  GstVideoInfo *info = &self->own_info;

  if (!spdl_decode_config_check_size (width, height, config->max_pixels, error))
    return FALSE;
  if (!self->own_caps || (guint) GST_VIDEO_INFO_WIDTH (info) != width ||
      (guint) GST_VIDEO_INFO_HEIGHT (info) != height ||
      GST_VIDEO_INFO_FORMAT (info) != config->format) {
    spdl_decode_config_set_info (info, config->format, width, height);
    gst_caps_take (&self->own_caps, gst_video_info_to_caps (info));
  }
  self->info = info;
  self->caps = self->own_caps;
  return TRUE;
}

static gboolean
make_buffer (SpdlCanvas *self, const SpdlDecodeConfig *config, GError **error)
{
  const SpdlFit *fit = &self->transform->fit;
  const gboolean swaps =
      spdl_orientation_swaps_sides (self->transform->orientation);

  self->buffer = NULL;
  if (config->pool) {
    self->info = &config->info;
    self->caps = config->caps;
    gst_buffer_pool_acquire_buffer (config->pool, &self->buffer, NULL);
  } else {
    if (!set_own_size (self, config, swaps ? fit->height : fit->width,
            swaps ? fit->width : fit->height, error))
      return FALSE;
    self->buffer = gst_spdl_buffer_try_new (GST_VIDEO_INFO_SIZE (self->info));
  }
  if (!self->buffer)
    return no_memory (self, error);
  if (gst_buffer_map (self->buffer, &self->map, GST_MAP_WRITE))
    return TRUE;
  gst_clear_buffer (&self->buffer);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
      "Failed to map the image's memory");
  return FALSE;
}

static gboolean
is_gray (const SpdlCanvas *self)
{
  return GST_VIDEO_INFO_FORMAT (self->info) == GST_VIDEO_FORMAT_GRAY8 &&
         self->rows.pixels == SPDL_PIXELS_COLOR;
}

/* Returns the bytes per drawn pixel. */
static guint
get_pixel_size (SpdlPixels pixels)
{
  return pixels == SPDL_PIXELS_COLOR ? 3 : pixels == SPDL_PIXELS_INDEX ? 1 : 2;
}

/* Selects where pixels are drawn: directly in the buffer, or in scratch memory
 * if they are rotated or converted to gray afterwards. */
static gboolean
set_drawn (SpdlCanvas *self)
{
  const SpdlFit *fit = &self->transform->fit;
  gsize size;

  if (self->transform->orientation == 1 && !is_gray (self)) {
    self->drawn = self->map.data;
    self->drawn_stride = GST_VIDEO_INFO_PLANE_STRIDE (self->info, 0);
    return TRUE;
  }
  self->drawn_stride = fit->width * (gsize) get_pixel_size (self->rows.pixels);
  size = self->drawn_stride * fit->height;
  if (size > self->scratch_size) {
    g_free (self->scratch);
    self->scratch = g_try_malloc (size);
    self->scratch_size = self->scratch ? size : 0;
  }
  self->drawn = self->scratch;
  return self->drawn != NULL;
}

static void
fill_row (const SpdlCanvas *self, guint y, guint x_begin, guint x_end)
{
  guint8 *row = self->drawn + y * self->drawn_stride;

  const gsize size = get_pixel_size (self->rows.pixels);

  for (guint x = x_begin; x < x_end; x++)
    spdl_rows_put_pixel (&self->rows, row + x * size, self->rows.background);
}

/* Fills the pixels around the image with the background. */
static void
fill_border (const SpdlCanvas *self)
{
  const SpdlFit *fit = &self->transform->fit;
  const SpdlRectangle *place = &fit->place;

  for (guint y = 0; y < fit->height; y++) {
    if (y < place->y || y >= place->y + place->height) {
      fill_row (self, y, 0, fit->width);
    } else {
      fill_row (self, y, 0, place->x);
      fill_row (self, y, place->x + place->width, fit->width);
    }
  }
}

static SpdlResizeJob
get_job (const SpdlCanvas *self, const SpdlDecodeConfig *config)
{
  const SpdlFit *f = &self->transform->fit;
  const guint size = get_pixel_size (config->pixels);

  return (SpdlResizeJob){
    .interpolation = config->interpolation,
    .pixel_size = config->pixels == SPDL_PIXELS_COLOR ? 4 : size,
    .width = self->rows.width,
    .height = self->rows.height,
    .box_x = f->box.x,
    .box_y = f->box.y,
    .box_width = f->box.width,
    .box_height = f->box.height,
    .unit_x = self->reduction * self->transform->unit_x,
    .unit_y = self->reduction * self->transform->unit_y,
    .crop = TRUE,
    .full_width = f->full_width,
    .full_height = f->full_height,
    .skip_x = f->skip_x,
    .skip_y = f->skip_y,
    .out_width = f->place.width,
    .out_height = f->place.height,
    .out = self->drawn + f->place.y * self->drawn_stride +
           f->place.x * (gsize) size,
    .out_stride = self->drawn_stride,
  };
}

static gboolean
begin_resize (SpdlCanvas *self, const SpdlDecodeConfig *config)
{
  const SpdlResizeJob job = get_job (self, config);
  SpdlRows *rows = &self->rows;
  SpdlResizeSource source;

  self->is_plane = config->pixels != SPDL_PIXELS_COLOR;
  rows->get_row = self->is_plane ? get_row_plane : get_row_resized;
  rows->rows_done = self->is_plane ? rows_done_as_is : rows_done_resized;
  rows->pixel_size = job.pixel_size;
  if (!(self->is_plane ? spdl_resize_begin_plane : spdl_resize_begin) (
          self->resize, &job))
    return FALSE;
  source = spdl_resize_get_source (self->resize);
  rows->x_begin = source.x_begin;
  rows->x_end = source.x_end;
  rows->y_begin = source.y_begin;
  rows->y_end = source.y_end;
  return TRUE;
}

static void
set_rows (SpdlCanvas *self, const SpdlDecodeConfig *config)
{
  SpdlRows *rows = &self->rows;
  const guint by = self->reduction;

  rows->user_data = self;
  rows->width = (self->transform->width + by - 1) / by;
  rows->height = (self->transform->height + by - 1) / by;
  rows->x_begin = rows->y_begin = 0;
  rows->x_end = rows->width;
  rows->y_end = rows->height;
  rows->bgr = config->format == GST_VIDEO_FORMAT_BGR;
  rows->background = config->background;
  rows->get_row = get_row_as_is;
  rows->rows_done = rows_done_as_is;
  rows->pixels = config->pixels;
  rows->pixel_size = get_pixel_size (config->pixels);
}

static gboolean
begin_canvas (SpdlCanvas *self, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction, GError **error)
{
  self->transform = transform;
  self->reduction = reduction;
  self->planes = NULL;
  self->is_plane = FALSE;
  set_rows (self, config);
  if (!make_buffer (self, config, error))
    return FALSE;
  if (!set_drawn (self)) {
    spdl_canvas_cancel (self);
    return no_memory (self, error);
  }
  if (spdl_fit_has_border (&transform->fit))
    fill_border (self);
  return TRUE;
}

const SpdlRows *
spdl_canvas_begin (SpdlCanvas *self, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction, GError **error)
{
  if (!begin_canvas (self, config, transform, reduction, error))
    return NULL;
  if ((reduction == 1 && spdl_image_transform_is_plain (transform)) ||
      begin_resize (self, config))
    return &self->rows;
  no_memory (self, error);
  spdl_canvas_cancel (self);
  return NULL;
}

gboolean
spdl_canvas_takes_planes (const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction,
    const SpdlSampling *sampling)
{
  return !spdl_image_transform_is_plain (transform) &&
         config->interpolation != SPDL_INTERPOLATION_NEAREST;
}

const SpdlPlanes *
spdl_canvas_begin_planes (SpdlCanvas *self, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform, guint reduction,
    const SpdlSampling *sampling, GError **error)
{
  SpdlResizeJob job;

  if (!begin_canvas (self, config, transform, reduction, error))
    return NULL;
  job = get_job (self, config);
  self->planes = spdl_plane_join_begin (
      self->join, &job, sampling, self->rows.bgr, self->rows.background);
  if (self->planes)
    return self->planes;
  no_memory (self, error);
  spdl_canvas_cancel (self);
  return NULL;
}

void
spdl_canvas_set_colors (SpdlCanvas *self, const SpdlColors *colors)
{
  spdl_plane_join_set_colors (self->join, colors);
}

/* End of an image */

/* Converts the drawn pixels to gray in place, with Pillow's weights. They add
 * up to 65536, so gray pixels keep their value. */
static void
make_gray (SpdlCanvas *self)
{
  const SpdlFit *fit = &self->transform->fit;
  const gsize n = (gsize) fit->width * fit->height;
  guint8 *to = self->drawn;

  for (gsize i = 0; i < n; i++) {
    const guint8 *rgb = self->drawn + 3 * i;

    to[i] =
        (rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16;
  }
  self->drawn_stride = fit->width;
}

/* Side of a tile in pixels. When rows and columns are swapped, the source and
 * the destination of a tile both stay in the cache. */
#define SQUARE 32

typedef struct {
  const guint8 *in; /* source of the first output pixel */
  gssize step_x;    /* from an output pixel to its right neighbor */
  gssize step_y;    /* from an output pixel to the one below */
  guint8 *out;
  gsize stride;
} Turn;

static inline void
copy_square (const Turn *turn, const guint pixel_size, guint x0, guint y0,
    guint x1, guint y1)
{
  for (guint y = y0; y < y1; y++) {
    const guint8 *in =
        turn->in + (gssize) y * turn->step_y + (gssize) x0 * turn->step_x;
    guint8 *out = turn->out + y * turn->stride + pixel_size * (gsize) x0;

    for (guint x = x0; x < x1; x++) {
      memcpy (out, in, pixel_size);
      out += pixel_size;
      in += turn->step_x;
    }
  }
}

/* Writes @in, @width by @height pixels of @pixel_size bytes (1 to 3), in
 * upright orientation to @out. The sides are swapped if the orientation
 * requires it. */
static void
apply_orientation (guint orientation, guint pixel_size, const guint8 *in,
    guint width, guint height, gsize in_stride, guint8 *out, gsize out_stride)
{
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);
  const gboolean from_right = spdl_orientation_mirrors_x (orientation);
  const gboolean from_bottom = spdl_orientation_mirrors_y (orientation);
  const gssize pixel = pixel_size;
  const gssize along = from_right ? -pixel : pixel;
  const gssize down = from_bottom ? -(gssize) in_stride : (gssize) in_stride;
  const guint out_width = swaps ? height : width;
  const guint out_height = swaps ? width : height;
  const Turn turn = { in + (from_right ? pixel * (gsize) (width - 1) : 0) +
                          (from_bottom ? in_stride * (height - 1) : 0),
    swaps ? down : along, swaps ? along : down, out, out_stride };

  for (guint y = 0; y < out_height; y += SQUARE)
    for (guint x = 0; x < out_width; x += SQUARE) {
      const guint x_end = MIN (x + SQUARE, out_width);
      const guint y_end = MIN (y + SQUARE, out_height);

      /* The pixel size is a constant here, so that the compiler replaces
       * memcpy(). */
      if (pixel_size == 1)
        copy_square (&turn, 1, x, y, x_end, y_end);
      else if (pixel_size == 2)
        copy_square (&turn, 2, x, y, x_end, y_end);
      else
        copy_square (&turn, 3, x, y, x_end, y_end);
    }
}

GstBuffer *
spdl_canvas_end (SpdlCanvas *self, GstCaps **caps)
{
  const SpdlFit *fit = &self->transform->fit;
  const gboolean gray = is_gray (self);

  if (self->planes)
    spdl_plane_join_end (self->join);
  if (self->is_plane)
    spdl_resize_end_plane (self->resize);
  if (gray)
    make_gray (self);
  if (gray || self->transform->orientation != 1)
    apply_orientation (self->transform->orientation,
        gray ? 1 : get_pixel_size (self->rows.pixels), self->drawn, fit->width,
        fit->height, self->drawn_stride, self->map.data,
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
