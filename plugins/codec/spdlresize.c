/* gst-spdl: an antialiased resize, row by row
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlresize.h"

#include <string.h>

/* Rows that are kept: row y is at y % n_rows. Each has room behind it for what
 * the inner loops read and write too much. */
typedef struct {
  guint8 *data;
  gsize n_allocated;
  gsize stride;
  guint n_rows;
} Window;

struct _SpdlResize {
  const SpdlKernels *kernels;
  SpdlFilters *filters;
  Window in;
  Window shrunk;
  const guint8 **column; /* rows that are summed up */
  gsize column_allocated;

  /* The image in hand. */
  const SpdlFilter *x;
  const SpdlFilter *y;
  guint pixel_size;
  gsize out_size; /* of a row */
  guint8 *out;
  gsize out_stride;
  guint next_in;
  guint next_out;
};

SpdlResize *
spdl_resize_new (void)
{
  SpdlResize *self = g_new0 (SpdlResize, 1);

  self->kernels = spdl_kernels_get ();
  self->filters = spdl_filters_new ();
  return self;
}

void
spdl_resize_free (SpdlResize *self)
{
  spdl_filters_free (self->filters);
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

/* Zeros, so that what no row has been written to is defined. */
static gboolean
window_begin (Window *self, gsize row_size, guint n_rows)
{
  gsize size;

  self->stride = row_size + SPDL_KERNEL_PADDING;
  self->n_rows = n_rows;
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
  return self->data + (y % self->n_rows) * self->stride;
}

static SpdlFilterKey
key_of (const SpdlResizeJob *job, guint n_in, guint begin, guint length,
    guint n_full, guint skip, guint n_out, gboolean fine)
{
  return (SpdlFilterKey){
    .interpolation = job->interpolation,
    .n_in = n_in,
    .begin = begin,
    .length = length ? length : n_in - begin,
    .unit = MAX (job->unit, 1),
    .crop = job->crop,
    .n_full = n_full ? n_full : n_out,
    .skip = skip,
    .n_out = n_out,
    .fine = fine,
  };
}

static gboolean
get_filters (SpdlResize *self, const SpdlResizeJob *job)
{
  const SpdlFilterKey x = key_of (job, job->width, job->box_x, job->box_width,
      job->full_width, job->skip_x, job->out_width, TRUE);
  const SpdlFilterKey y = key_of (job, job->height, job->box_y, job->box_height,
      job->full_height, job->skip_y, job->out_height, FALSE);

  self->x = spdl_filters_get (self->filters, &x);
  self->y = spdl_filters_get (self->filters, &y);
  return self->x && self->y;
}

/* An even number of pointers: a row of weight 0 may be among them. */
static gboolean
make_column (SpdlResize *self, guint n_taps)
{
  const gsize n = (gsize) n_taps + 1;

  if (n > self->column_allocated) {
    g_free (self->column);
    self->column = g_try_new (const guint8 *, n);
    self->column_allocated = self->column ? n : 0;
  }
  return self->column != NULL;
}

gboolean
spdl_resize_begin (SpdlResize *self, const SpdlResizeJob *job)
{
  const guint out_pixel_size = job->pixel_size == 1 ? 1 : 3;

  if (!get_filters (self, job))
    return FALSE;
  self->pixel_size = job->pixel_size;
  self->out_size = (gsize) job->out_width * out_pixel_size;
  self->out = job->out;
  self->out_stride = job->out_stride;
  self->next_in = self->y->source_begin;
  self->next_out = 0;
  return window_begin (&self->in, (gsize) job->width * job->pixel_size,
             SPDL_RESIZE_AHEAD + SPDL_KERNEL_ROWS) &&
         window_begin (&self->shrunk, self->out_size,
             self->y->n_taps + SPDL_KERNEL_ROWS) &&
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

/* Along rows */

/* Four bytes at a time: the last of them is the next pixel's. */
static void
copy_pixels (guint8 *out, const guint8 *in, const SpdlFilter *filter)
{
  for (guint o = 0; o < filter->n_out; o++, out += 3)
    memcpy (out, in + (gsize) filter->first[o] * 4, 4);
}

static void
copy_bytes (guint8 *out, const guint8 *in, const SpdlFilter *filter)
{
  for (guint o = 0; o < filter->n_out; o++)
    out[o] = in[filter->first[o]];
}

/* The next @n rows, SPDL_KERNEL_ROWS at most. */
static void
shrink_rows (SpdlResize *self, guint n)
{
  const guint8 *in[SPDL_KERNEL_ROWS];
  guint8 *out[SPDL_KERNEL_ROWS];

  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++) {
    const guint y = self->next_in + MIN (i, n - 1);

    in[i] = window_get (&self->in, y);
    out[i] = window_get (&self->shrunk, y);
  }
  if (self->x->n_taps > 1 && self->pixel_size == 1)
    self->kernels->shrink_bytes (out, in, self->x);
  else if (self->x->n_taps > 1)
    self->kernels->shrink_pixels (out, in, self->x);
  else
    for (guint i = 0; i < n; i++)
      (self->pixel_size == 1 ? copy_bytes : copy_pixels) (
          out[i], in[i], self->x);
  self->next_in += n;
}

/* Along columns */

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
  for (guint i = 0; i < n; i++)
    self->column[i] = window_get (&self->shrunk, first + MIN (i, n_taps - 1));
  self->kernels->sum_rows (
      out, self->out_size, self->column, weights, n, self->y->shift);
}

static void
make_out (SpdlResize *self)
{
  const SpdlFilter *y = self->y;

  for (; self->next_out < y->n_out; self->next_out++) {
    const guint first = y->first[self->next_out];
    guint8 *out = self->out + self->next_out * self->out_stride;

    if (first + y->n_taps > self->next_in)
      break;
    if (y->n_taps > 1)
      sum_rows (self, out);
    else
      memcpy (out, window_get (&self->shrunk, first), self->out_size);
  }
}

void
spdl_resize_rows_done (SpdlResize *self, guint y_end)
{
  const SpdlFilter *y = self->y;

  y_end = MIN (y_end, y->source_end);
  while (self->next_out < y->n_out) {
    guint n;

    /* Some rows count for nothing, with nearest. */
    self->next_in = MAX (self->next_in, y->first[self->next_out]);
    if (self->next_in >= y_end)
      break;
    n = MIN (y_end - self->next_in, SPDL_KERNEL_ROWS);
    if (n < SPDL_KERNEL_ROWS && y_end < y->source_end)
      break;
    shrink_rows (self, n);
    make_out (self);
  }
}
