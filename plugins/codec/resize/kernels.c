/* gst-spdl: kernels of the resizer in C, and the selection of a set
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/kernels.h"

#include <string.h>

static inline void
shrink_row (gint16 *out, const guint8 *in, const SpdlFilter *filter, guint bits,
    guint n_channels, guint pixel_size)
{
  const guint shift = filter->shift - bits;
  const gint16 *weights = filter->weights;

  for (guint o = 0; o < filter->n_out; o++, weights += filter->stride) {
    const guint8 *from = in + (gsize) filter->first[o] * pixel_size;
    gint32 sums[3] = { 0, 0, 0 };

    for (guint i = 0; i < filter->n_taps; i++, from += pixel_size)
      for (guint c = 0; c < n_channels; c++)
        sums[c] += from[c] * weights[i];
    for (guint c = 0; c < n_channels; c++) {
      const gint32 value = (sums[c] + (1 << (shift - 1))) >> shift;

      *out++ = CLAMP (value, 0, 255 << bits);
    }
  }
}

static void
shrink_pixels (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_row (out + i * out_stride, in + i * in_stride, filter, bits, 3, 4);
}

static void
shrink_bytes (gint16 *out, gsize out_stride, const guint8 *in, gsize in_stride,
    const SpdlFilter *filter, guint bits)
{
  for (guint i = 0; i < SPDL_KERNEL_ROWS; i++)
    shrink_row (out + i * out_stride, in + i * in_stride, filter, bits, 1, 1);
}

/* Block size at which the sums stay in the cache for any number of rows. */
#define BLOCK 256

static void
sum_block (guint8 *out, guint n, const gint16 *const *rows, gsize at,
    const gint16 *weights, guint n_rows, guint shift)
{
  gint32 sums[BLOCK];

  for (guint i = 0; i < n; i++)
    sums[i] = 1 << (shift - 1);
  for (guint y = 0; y < n_rows; y++)
    for (guint i = 0; i < n; i++)
      sums[i] += rows[y][at + i] * weights[y];
  for (guint i = 0; i < n; i++) {
    const gint32 value = sums[i] >> shift;

    out[i] = CLAMP (value, 0, 255);
  }
}

static void
sum_rows (guint8 *out, gsize n, const gint16 *const *rows,
    const gint16 *weights, guint n_rows, guint shift)
{
  for (gsize at = 0; at < n; at += BLOCK)
    sum_block (out + at, MIN (n - at, BLOCK), rows, at, weights, n_rows, shift);
}

static inline gint
multiply_fixed (gint value, gint factor)
{
  return (value * factor + (1 << 14)) >> 15;
}

static void
join_planes (guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr)
{
  const guint red = bgr ? 2 : 0;

  for (guint i = 0; i < n; i++, out += 3) {
    const gint y = planes[0][i];
    const gint cb = planes[1][i] - 128, cr = planes[2][i] - 128;
    const gint green =
        multiply_fixed (cb * (1 << SPDL_GREEN_BITS), SPDL_GREEN_CB) +
        multiply_fixed (cr * (1 << SPDL_GREEN_BITS), SPDL_GREEN_CR);
    const gint r = y + cr + multiply_fixed (cr, SPDL_RED_CR);
    const gint g =
        y + ((green + (1 << (SPDL_GREEN_BITS - 1))) >> SPDL_GREEN_BITS);
    const gint b = y + 2 * cb + multiply_fixed (cb, SPDL_BLUE_CB);

    out[red] = CLAMP (r, 0, 255);
    out[1] = CLAMP (g, 0, 255);
    out[2 - red] = CLAMP (b, 0, 255);
  }
}

const SpdlKernels spdl_kernels_c = {
  "c",
  shrink_pixels,
  shrink_bytes,
  sum_rows,
  join_planes,
};

/* Selection */

/* Best first. */
static const SpdlKernels *const sets[] = {
#ifdef SPDL_KERNELS_X86
  &spdl_kernels_avx2,
  &spdl_kernels_sse2,
#endif
#ifdef SPDL_KERNELS_NEON
  &spdl_kernels_neon,
#endif
  &spdl_kernels_c,
};

static gboolean
can_run (const SpdlKernels *set)
{
#ifdef SPDL_KERNELS_X86
  if (set == &spdl_kernels_avx2)
    return __builtin_cpu_supports ("avx2") != 0;
  if (set == &spdl_kernels_sse2)
    return __builtin_cpu_supports ("sse2") != 0;
#endif
  return TRUE;
}

const SpdlKernels *
spdl_kernels_find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    if (strcmp (sets[i]->name, name) == 0)
      return can_run (sets[i]) ? sets[i] : NULL;
  return NULL;
}

static const SpdlKernels *
choose_kernels (void)
{
  const gchar *name = g_getenv ("SPDL_KERNELS");
  const SpdlKernels *set = name ? spdl_kernels_find (name) : NULL;

  for (guint i = 0; !set; i++)
    if (can_run (sets[i]))
      set = sets[i];
  return set;
}

const SpdlKernels *
spdl_kernels_get (void)
{
  static gsize chosen;

  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, (gsize) choose_kernels ());
  return (const SpdlKernels *) chosen;
}
