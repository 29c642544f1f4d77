/* gst-spdl: antialiased resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/resize.h"

/* Ring buffer of rows: row y is at (y + offset) % n_rows. Rows of one
 * horizontal pass are consecutive. Each row is followed by the padding that
 * kernels may read and write. */
typedef struct {
  guint8 *data;
  gsize n_allocated;
  gsize stride;
  guint n_rows;
  guint offset;
} Window;

struct _SpdlResize {
  const SpdlKernels *kernels;
  SpdlFilters *filters;
  SpdlFilters *own_filters; /* NULL: filters are shared */
  Window in;
  Window shrunk;
  const gint16 **column; /* row pointers for the vertical pass */
  gsize column_allocated;

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
  g_free (self);
}

void
spdl_resize_set_kernels (SpdlResize *self, const SpdlKernels *kernels)
{
  self->kernels = kernels;
}

/* Allocates zeros, so that unwritten rows have defined content. */
static gboolean
window_begin (Window *self, gsize row_size, guint n_rows, guint first)
{
  gsize size;

  self->stride = row_size + SPDL_KERNEL_PADDING;
  self->n_rows = n_rows;
  self->offset = n_rows - first % n_rows;
  if (!g_size_checked_mul (&size, self->stride, n_rows))
    return FALSE;
  if (size > self->n_allocated) {
    g_free (self->data);
    self->data = g_try_malloc0 (size);
    self->n_allocated = self->data ? size : 0;
  }
  return self->data != NULL;
}

static inline guint8 *
window_get (const Window *self, guint y)
{
  return self->data + (y + self->offset) % self->n_rows * self->stride;
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
get_filters (SpdlResize *self, const SpdlResizeJob *job)
{
  SpdlFilterKey x =
      key_of (job, job->width, job->unit_x, job->box_x, job->box_width,
          job->half_x, job->full_width, job->skip_x, job->out_width, 255);
  const SpdlFilterKey y = key_of (job, job->height, job->unit_y, job->box_y,
      job->box_height, job->half_y, job->full_height, job->skip_y,
      job->out_height, 255 << self->bits);

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
  if (!get_filters (self, job))
    return FALSE;
  self->pixel_size = job->pixel_size;
  self->out_size = (gsize) job->out_width * out_pixel_size;
  self->out = job->out;
  self->out_stride = job->out_stride;
  self->next_in = self->y->source_begin;
  self->next_out = 0;
  return window_begin (&self->in, n_columns * job->pixel_size,
             SPDL_RESIZE_AHEAD + SPDL_KERNEL_ROWS, self->next_in) &&
         window_begin (&self->shrunk, self->out_size * sizeof (gint16),
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
  return window_get (&self->in, y);
}

/* Horizontal pass */

/* Resizes the next SPDL_KERNEL_ROWS rows. At the end there may be fewer; the
 * results of the others are not used. */
static void
shrink_rows (SpdlResize *self)
{
  const Window *in = &self->in, *shrunk = &self->shrunk;

  (self->pixel_size == 1 ? self->kernels->shrink_bytes
                         : self->kernels->shrink_pixels) (
      (gint16 *) window_get (shrunk, self->next_in),
      shrunk->stride / sizeof (gint16), window_get (in, self->next_in),
      in->stride, self->x, self->bits);
  self->next_in += SPDL_KERNEL_ROWS;
}

/* Vertical pass */

/* Sets the pointers to @n rows from @first on. Rows after the last tap have
 * weight 0. */
static void
set_column (SpdlResize *self, guint first, guint n)
{
  const Window *shrunk = &self->shrunk;
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
