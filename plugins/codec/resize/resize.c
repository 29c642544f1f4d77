/* gst-spdl: antialiased resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/resize.h"

#include <string.h>

#include "plugins/codec/resize/rowwindow.h"
#include "plugins/codec/resize/scratch.h"

struct _SpdlResize {
  const SpdlKernels *kernels;
  SpdlFilters *filters;
  SpdlFilters *own_filters; /* NULL: filters are shared */
  SpdlRowWindow in;
  SpdlRowWindow shrunk;
  const gint16 **column; /* row pointers for the vertical pass */
  gsize column_allocated;

  /* For images of one channel. */
  guint8 *plane;
  gsize plane_allocated;
  gsize plane_stride;
  gboolean picks; /* nearest: samples are copied */
  gint32 *narrow; /* the plane after the horizontal pass, shifted left */
  gsize narrow_allocated;
  gint64 *sums; /* a row of the vertical pass */
  gsize sums_allocated;

  /* The current image. */
  const SpdlFilter *x;
  const SpdlFilter *y;
  guint pixel_size;
  guint bits;     /* fractional bits of horizontally resized values */
  gsize out_size; /* of a row */
  guint8 *out;
  gsize out_stride;
  guint next_in;
  guint next_out;
};

SpdlResize *
spdl_resize_new (SpdlFilters *filters)
{
  SpdlResize *self = g_new0 (SpdlResize, 1);

  self->kernels = spdl_kernels_get ();
  self->own_filters = filters ? NULL : spdl_filters_new ();
  self->filters = filters ? filters : self->own_filters;
  return self;
}

void
spdl_resize_free (SpdlResize *self)
{
  if (self->own_filters)
    spdl_filters_free (self->own_filters);
  g_free (self->in.data);
  g_free (self->shrunk.data);
  g_free (self->column);
  g_free (self->plane);
  g_free (self->narrow);
  g_free (self->sums);
  g_free (self);
}

void
spdl_resize_set_kernels (SpdlResize *self, const SpdlKernels *kernels)
{
  self->kernels = kernels;
}

static SpdlFilterKey
key_of (const SpdlResizeJob *job, guint n_in, guint unit, guint begin,
    guint length, gboolean half, guint n_full, guint skip, guint n_out,
    guint max_value)
{
  return (SpdlFilterKey){
    .interpolation = job->interpolation,
    .n_in = n_in,
    .begin = begin,
    .length = length ? length : n_in - begin,
    .unit = MAX (unit, 1),
    .crop = job->crop,
    .doubled = half,
    .n_full = n_full ? n_full : n_out,
    .skip = skip,
    .n_out = n_out,
    .max_value = max_value,
  };
}

static gboolean
get_filters (
    SpdlResize *self, const SpdlResizeJob *job, guint x_max, guint y_max)
{
  SpdlFilterKey x =
      key_of (job, job->width, job->unit_x, job->box_x, job->box_width,
          job->half_x, job->full_width, job->skip_x, job->out_width, x_max);
  const SpdlFilterKey y =
      key_of (job, job->height, job->unit_y, job->box_y, job->box_height,
          job->half_y, job->full_height, job->skip_y, job->out_height, y_max);

  x.quads = job->pixel_size == 1;
  g_return_val_if_fail (x.n_out > 0 && y.n_out > 0, FALSE);
  self->x = spdl_filters_get (self->filters, &x);
  self->y = spdl_filters_get (self->filters, &y);
  return self->x && self->y;
}

/* Allocates an even number of pointers: a row with weight 0 may be added. */
static gboolean
make_column (SpdlResize *self, guint n_taps)
{
  const gsize n = (gsize) n_taps + 1;

  if (n > self->column_allocated) {
    g_free (self->column);
    self->column = g_try_new (const gint16 *, n);
    self->column_allocated = self->column ? n : 0;
  }
  return self->column != NULL;
}

/* Returns the number of fractional bits: 7, to use 15 bits, which leaves 15 or
 * 16 bits to the weights. With very many taps, weights are small and need more
 * bits. */
static guint
choose_bits (const SpdlResizeJob *job)
{
  const guint unit = MAX (job->unit_y, 1);
  const guint height = job->box_height ? job->box_height / unit : job->height;
  const guint full = job->full_height ? job->full_height : job->out_height;

  return height / 32 > full ? 2 : 7;
}

/* Rounds up to a multiple of the rows in a horizontal pass. */
static inline guint
round_up (guint n_rows)
{
  return (n_rows + (SPDL_KERNEL_ROWS - 1)) / SPDL_KERNEL_ROWS *
         SPDL_KERNEL_ROWS;
}

gboolean
spdl_resize_begin (SpdlResize *self, const SpdlResizeJob *job)
{
  const guint out_pixel_size = job->pixel_size == 1 ? 1 : 3;
  const gsize n_columns = job->half_x ? (job->width + 1) / 2 : job->width;

  self->bits = choose_bits (job);
  if (!get_filters (self, job, 255, 255 << self->bits))
    return FALSE;
  self->pixel_size = job->pixel_size;
  self->out_size = (gsize) job->out_width * out_pixel_size;
  self->out = job->out;
  self->out_stride = job->out_stride;
  self->next_in = self->y->source_begin;
  self->next_out = 0;
  return spdl_row_window_begin (&self->in, n_columns * job->pixel_size,
             SPDL_RESIZE_AHEAD + SPDL_KERNEL_ROWS, self->next_in) &&
         spdl_row_window_begin (&self->shrunk, self->out_size * sizeof (gint16),
             round_up (self->y->n_taps) + SPDL_KERNEL_ROWS, self->next_in) &&
         make_column (self, self->y->n_taps);
}

SpdlResizeSource
spdl_resize_get_source (const SpdlResize *self)
{
  return (SpdlResizeSource){
    .x_begin = self->x->source_begin,
    .x_end = self->x->source_end,
    .y_begin = self->y->source_begin,
    .y_end = self->y->source_end,
  };
}

guint8 *
spdl_resize_get_row (SpdlResize *self, guint y)
{
  return spdl_row_window_get (&self->in, y);
}

/* Horizontal pass */

/* Resizes the next SPDL_KERNEL_ROWS rows. At the end there may be fewer; the
 * results of the others are not used. */
static void
shrink_rows (SpdlResize *self)
{
  const SpdlRowWindow *in = &self->in, *shrunk = &self->shrunk;

  (self->pixel_size == 1 ? self->kernels->shrink_bytes
                         : self->kernels->shrink_pixels) (
      (gint16 *) spdl_row_window_get (shrunk, self->next_in),
      shrunk->stride / sizeof (gint16), spdl_row_window_get (in, self->next_in),
      in->stride, self->x, self->bits);
  self->next_in += SPDL_KERNEL_ROWS;
}

/* Vertical pass */

/* Sets the pointers to @n rows from @first on. Rows after the last tap have
 * weight 0. */
static void
set_column (SpdlResize *self, guint first, guint n)
{
  const SpdlRowWindow *shrunk = &self->shrunk;
  guint place = (first + shrunk->offset) % shrunk->n_rows;

  for (guint i = 0; i < n; i++) {
    self->column[i] = (const gint16 *) (shrunk->data + place * shrunk->stride);
    place = place + 1 < shrunk->n_rows ? place + 1 : 0;
  }
}

static void
sum_rows (SpdlResize *self, guint8 *out)
{
  const guint first = self->y->first[self->next_out];
  const gint16 *weights =
      self->y->weights + (gsize) self->next_out * self->y->stride;
  const guint n_taps = self->y->n_taps;
  guint n = (n_taps + 1) & ~1u;

  while (n > 2 && weights[n - 1] == 0 && weights[n - 2] == 0)
    n -= 2;
  set_column (self, first, n);
  self->kernels->sum_rows (out, self->out_size, self->column, weights, n,
      self->y->shift + self->bits);
}

static void
make_out (SpdlResize *self)
{
  const SpdlFilter *y = self->y;

  for (; self->next_out < y->n_out; self->next_out++) {
    if (y->first[self->next_out] + y->n_taps > self->next_in)
      break;
    sum_rows (self, self->out + self->next_out * self->out_stride);
  }
}

void
spdl_resize_rows_done (SpdlResize *self, guint y_end)
{
  const SpdlFilter *y = self->y;

  y_end = MIN (y_end, y->source_end);
  while (self->next_out < y->n_out) {
    const guint first = y->first[self->next_out];

    /* Nearest skips rows. */
    while (self->next_in + SPDL_KERNEL_ROWS <= first)
      self->next_in += SPDL_KERNEL_ROWS;
    if (self->next_in >= y_end ||
        (self->next_in + SPDL_KERNEL_ROWS > y_end && y_end < y->source_end))
      break;
    shrink_rows (self);
    make_out (self);
  }
}

/* Images of one channel */

gboolean
spdl_resize_begin_plane (SpdlResize *self, const SpdlResizeJob *job)
{
  guint n_rows;
  gsize n, size;

  if (!get_filters (self, job, G_MAXUINT16, G_MAXUINT16))
    return FALSE;
  self->pixel_size = job->pixel_size;
  self->out = job->out;
  self->out_stride = job->out_stride;
  self->plane_stride = (gsize) job->width * job->pixel_size;
  if (!g_size_checked_mul (&size, job->height, self->plane_stride) ||
      !spdl_scratch_grow (
          (gpointer *) &self->plane, &self->plane_allocated, size, 1))
    return FALSE;
  self->picks = job->interpolation == SPDL_INTERPOLATION_NEAREST;
  if (self->picks)
    return TRUE;
  n_rows = self->y->source_end - self->y->source_begin;
  return g_size_checked_mul (&n, n_rows, self->x->n_out) &&
         spdl_scratch_grow ((gpointer *) &self->narrow, &self->narrow_allocated,
             n, sizeof *self->narrow) &&
         spdl_scratch_grow ((gpointer *) &self->sums, &self->sums_allocated,
             self->x->n_out, sizeof *self->sums);
}

guint8 *
spdl_resize_get_plane_row (SpdlResize *self, guint y)
{
  return self->plane + y * self->plane_stride;
}

static void
pick_samples (SpdlResize *self)
{
  const guint size = self->pixel_size;

  for (guint o = 0; o < self->y->n_out; o++) {
    const guint8 *row = spdl_resize_get_plane_row (self, self->y->first[o]);
    guint8 *out = self->out + o * self->out_stride;

    for (guint i = 0; i < self->x->n_out; i++)
      memcpy (out + i * size, row + self->x->first[i] * (gsize) size, size);
  }
}

static void
narrow_row (const SpdlFilter *x, const guint16 *row, gint32 *to)
{
  for (guint o = 0; o < x->n_out; o++) {
    const gint16 *weights = x->weights + (gsize) o * x->stride;
    gint32 sum = 0;

    for (guint t = 0; t < x->n_taps; t++)
      sum += weights[t] * (gint32) row[x->first[o] + t];
    to[o] = sum;
  }
}

static void
write_sums (SpdlResize *self, guint o)
{
  const SpdlFilter *x = self->x, *y = self->y;
  const gint16 *weights = y->weights + (gsize) o * y->stride;
  const gint32 *rows =
      self->narrow + (gsize) (y->first[o] - y->source_begin) * x->n_out;
  const guint shift = x->shift + y->shift;
  guint16 *out = (guint16 *) (self->out + o * self->out_stride);

  for (guint i = 0; i < x->n_out; i++)
    self->sums[i] = shift > 0 ? G_GINT64_CONSTANT (1) << (shift - 1) : 0;
  for (guint t = 0; t < y->n_taps; t++, rows += x->n_out)
    for (guint i = 0; i < x->n_out; i++)
      self->sums[i] += (gint64) weights[t] * rows[i];
  for (guint i = 0; i < x->n_out; i++)
    out[i] = CLAMP (self->sums[i] >> shift, 0, G_MAXUINT16);
}

void
spdl_resize_end_plane (SpdlResize *self)
{
  const SpdlFilter *y = self->y;

  if (self->picks) {
    pick_samples (self);
    return;
  }
  for (guint r = y->source_begin; r < y->source_end; r++)
    narrow_row (self->x, (const guint16 *) spdl_resize_get_plane_row (self, r),
        self->narrow + (gsize) (r - y->source_begin) * self->x->n_out);
  for (guint o = 0; o < y->n_out; o++)
    write_sums (self, o);
}
