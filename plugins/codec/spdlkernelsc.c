/* gst-spdl: the inner loops of a resize in plain C
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlkernels.h"

static inline guint8
finish (gint32 sum, guint shift)
{
  return CLAMP (sum >> shift, 0, 255);
}

/* The sum of three channels of a pixel, or of one. */
static inline void
sum_taps (gint32 *sums, guint n_channels, const guint8 *in, guint pixel_size,
    const gint16 *weights, guint n_taps)
{
  for (guint i = 0; i < n_taps; i++, in += pixel_size)
    for (guint c = 0; c < n_channels; c++)
      sums[c] += in[c] * weights[i];
}

/* Along a row: @low is what the low weights add up to, with half of the last
 * bit. */
static inline guint8
finish_fine (gint32 sum, gint32 low, const SpdlFilter *filter)
{
  return finish (sum * (1 << filter->low_bits) + low, filter->shift);
}

static inline void
shrink_row (guint8 *out, const guint8 *in, const SpdlFilter *filter,
    guint n_channels, guint pixel_size)
{
  const gint32 half = 1 << (filter->shift - 1);
  gsize at = 0;

  for (guint o = 0; o < filter->n_out; o++, at += filter->stride) {
    const guint8 *from = in + (gsize) filter->first[o] * pixel_size;
    gint32 sums[3] = { 0, 0, 0 }, low[3] = { half, half, half };

    sum_taps (sums, n_channels, from, pixel_size, filter->weights + at,
        filter->n_taps);
    if (filter->low)
      sum_taps (
          low, n_channels, from, pixel_size, filter->low + at, filter->n_taps);
    for (guint c = 0; c < n_channels; c++)
      *out++ = finish_fine (sums[c], low[c], filter);
  }
}

static void
shrink_pixels (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_row (out[i], in[i], filter, 3, 4);
}

static void
shrink_bytes (
    guint8 *const *out, const guint8 *const *in, const SpdlFilter *filter)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_row (out[i], in[i], filter, 1, 1);
}

/* In blocks, whose sums stay in the cache whatever the number of rows. */
#define BLOCK 256

static void
sum_block (guint8 *out, guint n, const guint8 *const *rows, gsize at,
    const gint16 *weights, guint n_rows, guint shift)
{
  gint32 sums[BLOCK];

  for (guint i = 0; i < n; i++)
    sums[i] = 1 << (shift - 1);
  for (guint y = 0; y < n_rows; y++)
    for (guint i = 0; i < n; i++)
      sums[i] += rows[y][at + i] * weights[y];
  for (guint i = 0; i < n; i++)
    out[i] = finish (sums[i], shift);
}

static void
sum_rows (guint8 *out, gsize n, const guint8 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  for (gsize at = 0; at < n; at += BLOCK)
    sum_block (out + at, MIN (n - at, BLOCK), rows, at, weights, n_rows, shift);
}

const SpdlKernels spdl_kernels_c = {
  "c",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
};
