/* gst-spdl: resizing and color conversion of planar images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/planejoin.h"

#include <math.h>
#include <string.h>

/* Colors */

#define ONE (1 << SPDL_COLORS_BITS)

void
spdl_colors_init (SpdlColors *self, double kr, double kb, gboolean full)
{
  const double y_range = full ? 255.0 : 219.0;
  const double c_range = full ? 255.0 : 224.0;
  const double kg = 1.0 - kr - kb;

  self->y = rint (255.0 / y_range * ONE);
  self->y_offset = full ? 0 : 16;
  self->red_cr = rint (255.0 / c_range * 2.0 * (1.0 - kr) * ONE);
  self->blue_cb = rint (255.0 / c_range * 2.0 * (1.0 - kb) * ONE);
  self->green_cr = rint (-255.0 / c_range * 2.0 * (1.0 - kr) * kr / kg * ONE);
  self->green_cb = rint (-255.0 / c_range * 2.0 * (1.0 - kb) * kb / kg * ONE);
}

/* Converts @n pixels in @planes to three bytes each. */
static void
spdl_colors_join (const SpdlColors *self, guint8 *out,
    const guint8 *const planes[3], guint n, gboolean bgr)
{
  const guint red = bgr ? 2 : 0;
  const SpdlColors c = *self;

  for (guint i = 0; i < n; i++, out += 3) {
    const gint y = (planes[0][i] - c.y_offset) * c.y + ONE / 2;
    const gint cb = planes[1][i] - 128, cr = planes[2][i] - 128;
    const gint r = (y + cr * c.red_cr) >> SPDL_COLORS_BITS;
    const gint g = (y + cb * c.green_cb + cr * c.green_cr) >> SPDL_COLORS_BITS;
    const gint b = (y + cb * c.blue_cb) >> SPDL_COLORS_BITS;

    out[red] = CLAMP (r, 0, 255);
    out[1] = CLAMP (g, 0, 255);
    out[2 - red] = CLAMP (b, 0, 255);
  }
}

/* Planes */

struct _SpdlPlaneJoin {
  const SpdlKernels *kernels;
  SpdlFilters *filters;
  SpdlResize *resizes[SPDL_PLANES];
  guint8 *memory; /* for the resized planes */
  gsize n_allocated;

  /* The current image. */
  SpdlPlanes planes;
  SpdlResizeJob job;
  gboolean bgr;
  const SpdlColors *colors; /* NULL: JFIF */
  guint8 *resized[SPDL_PLANES];
  gsize stride;
};

SpdlPlaneJoin *
spdl_plane_join_new (void)
{
  SpdlPlaneJoin *self = g_new0 (SpdlPlaneJoin, 1);

  self->kernels = spdl_kernels_get ();
  self->filters = spdl_filters_new ();
  for (guint i = 0; i < SPDL_PLANES; i++)
    self->resizes[i] = spdl_resize_new (self->filters);
  return self;
}

void
spdl_plane_join_free (SpdlPlaneJoin *self)
{
  for (guint i = 0; i < SPDL_PLANES; i++)
    spdl_resize_free (self->resizes[i]);
  spdl_filters_free (self->filters);
  g_free (self->memory);
  g_free (self);
}

static guint8 *
get_row (gpointer user_data, guint plane, guint y)
{
  return spdl_resize_get_row (((SpdlPlaneJoin *) user_data)->resizes[plane], y);
}

static void
rows_done (gpointer user_data, guint plane, guint y_end)
{
  spdl_resize_rows_done (((SpdlPlaneJoin *) user_data)->resizes[plane], y_end);
}

static gboolean
make_room (SpdlPlaneJoin *self)
{
  gsize size;

  self->stride = self->job.out_width + SPDL_KERNEL_PADDING;
  if (!g_size_checked_mul (
          &size, self->stride, (gsize) self->job.out_height * SPDL_PLANES))
    return FALSE;
  if (size > self->n_allocated) {
    g_free (self->memory);
    self->memory = g_try_malloc0 (size);
    self->n_allocated = self->memory ? size : 0;
  }
  for (guint i = 0; self->memory && i < SPDL_PLANES; i++)
    self->resized[i] = self->memory + size / SPDL_PLANES * i;
  return self->memory != NULL;
}

/* Extends the range of needed pixels by the samples that a plane needs. */
static void
add_source (SpdlPlanes *planes, const SpdlResizeSource *source, gboolean half_x,
    gboolean half_y)
{
  planes->x_begin = MIN (planes->x_begin, source->x_begin << half_x);
  planes->x_end = MAX (planes->x_end, source->x_end << half_x);
  planes->y_begin = MIN (planes->y_begin, source->y_begin << half_y);
  planes->y_end = MAX (planes->y_end, source->y_end << half_y);
}

static gboolean
begin_plane (SpdlPlaneJoin *self, const SpdlSampling *sampling, guint plane)
{
  SpdlResizeJob job = self->job;
  SpdlResizeSource source;

  if (plane >= sampling->n_planes) {
    memset (self->resized[plane], 128, self->stride * job.out_height);
    return TRUE;
  }
  job.pixel_size = 1;
  job.half_x = sampling->half_x[plane];
  job.half_y = sampling->half_y[plane];
  job.out = self->resized[plane];
  job.out_stride = self->stride;
  if (!spdl_resize_begin (self->resizes[plane], &job))
    return FALSE;
  source = spdl_resize_get_source (self->resizes[plane]);
  add_source (&self->planes, &source, job.half_x, job.half_y);
  return TRUE;
}

/* Sets the samples of missing pixels, with the JFIF conversion. */
static void
set_missing (guint8 missing[SPDL_PLANES], guint32 rgb)
{
  const gint r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
  const double y = 0.299 * r + 0.587 * g + 0.114 * b;

  missing[0] = y + 0.5;
  missing[1] = MIN ((b - y) / 1.772 + 128.5, 255);
  missing[2] = MIN ((r - y) / 1.402 + 128.5, 255);
}

const SpdlPlanes *
spdl_plane_join_begin (SpdlPlaneJoin *self, const SpdlResizeJob *job,
    const SpdlSampling *sampling, gboolean bgr, guint32 background)
{
  self->job = *job;
  self->bgr = bgr;
  self->colors = NULL;
  self->planes = (SpdlPlanes){
    .get_row = get_row,
    .rows_done = rows_done,
    .user_data = self,
    .x_begin = G_MAXUINT,
    .y_begin = G_MAXUINT,
  };
  set_missing (self->planes.missing, background);
  if (!make_room (self))
    return NULL;
  for (guint i = 0; i < SPDL_PLANES; i++)
    if (!begin_plane (self, sampling, i))
      return NULL;
  self->planes.x_end = MIN (self->planes.x_end, job->width);
  self->planes.y_end = MIN (self->planes.y_end, job->height);
  return &self->planes;
}

void
spdl_plane_join_set_colors (SpdlPlaneJoin *self, const SpdlColors *colors)
{
  self->colors = colors;
}

void
spdl_plane_join_end (SpdlPlaneJoin *self)
{
  const SpdlResizeJob *job = &self->job;

  for (guint y = 0; y < job->out_height; y++) {
    const guint8 *rows[SPDL_PLANES];
    guint8 *out = job->out + y * job->out_stride;

    for (guint i = 0; i < SPDL_PLANES; i++)
      rows[i] = self->resized[i] + y * self->stride;
    if (self->colors)
      spdl_colors_join (self->colors, out, rows, job->out_width, self->bgr);
    else
      self->kernels->join_planes (out, rows, job->out_width, self->bgr);
  }
}
