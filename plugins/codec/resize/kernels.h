/* gst-spdl: interface of the resizer's kernels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* Kernels for one CPU architecture. All sets give identical results: 32-bit
 * sums, rounded to nearest, shifted and clamped.
 *
 * The horizontal pass outputs 16-bit values with fractional bits; rounding to
 * bytes would accumulate errors over the rows of the vertical pass. The values
 * are clamped to 0 to 255 like bytes, which matters for filters with negative
 * weights. */

/* Number of rows per call, so that each weight is loaded once for all of them,
 * and number of bytes after each row that may be read and written. */
#define SPDL_KERNEL_ROWS 4
#define SPDL_KERNEL_PADDING 64

typedef struct {
  const gchar *name;

  /* Horizontal pass over SPDL_KERNEL_ROWS consecutive rows. shrink_pixels()
   * converts pixels of four bytes to three values with @bits fractional bits;
   * shrink_bytes() converts single-channel rows. Strides are in values for
   * @out, and in bytes for @in. */
  void (*shrink_pixels) (gint16 *out, gsize out_stride, const guint8 *in,
      gsize in_stride, const SpdlFilter *filter, guint bits);
  void (*shrink_bytes) (gint16 *out, gsize out_stride, const guint8 *in,
      gsize in_stride, const SpdlFilter *filter, guint bits);

  /* Vertical pass: sums @n_rows rows, an even number, into exactly @n bytes of
   * @out.
   * @shift: fractional bits of weights and values together */
  void (*sum_rows) (guint8 *out, gsize n, const gint16 *const *rows,
      const gint16 *weights, guint n_rows, guint shift);

  /* Converts @n pixels of planar full-range YCbCr to exactly 3 @n bytes of RGB
   * or, with @bgr, BGR. */
  void (*join_planes) (
      guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr);
} SpdlKernels;

/* Returns the best set for this CPU, or the one named by the environment
 * variable SPDL_KERNELS, if it is available. The variable is read once. */
const SpdlKernels *spdl_kernels_get (void);

/* Returns the set with that name: c, sse2, avx2 or neon. NULL if the CPU does
 * not support it. */
const SpdlKernels *spdl_kernels_find (const gchar *name);

/* Defined in kernels.c and in a file per set of CPU instructions. */
extern const SpdlKernels spdl_kernels_c;
#if defined(__x86_64__) || defined(__i386__)
#define SPDL_KERNELS_X86
extern const SpdlKernels spdl_kernels_sse2;
extern const SpdlKernels spdl_kernels_avx2;
#endif
#ifdef __aarch64__
#define SPDL_KERNELS_NEON
extern const SpdlKernels spdl_kernels_neon;
#endif

/* Coefficients of the JFIF conversion, with 15 fractional bits. Those for red
 * and blue are stored without their integer part, 1 and 2, to fit in 16 bits.
 * For green, the chroma is first shifted by SPDL_GREEN_BITS, so that both
 * products are rounded once together. */
#define SPDL_RED_CR 13173    /* 1.402 - 1 */
#define SPDL_BLUE_CB (-7471) /* 1.772 - 2 */
#define SPDL_GREEN_CB (-11277)
#define SPDL_GREEN_CR (-23401)
#define SPDL_GREEN_BITS 6

/* Returns two adjacent weights in memory order. */
static inline gint32
spdl_kernel_get_pair (const gint16 *weights)
{
  gint32 pair;

  __builtin_memcpy (&pair, weights, sizeof pair);
  return pair;
}

G_END_DECLS
