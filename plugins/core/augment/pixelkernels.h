/* gst-spdl: kernels of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/augment/warp.h"

G_BEGIN_DECLS

/* The loops are written once, in pixelloops.h, and compiled for each set of
 * instructions, so that results are identical: integers, and single precision
 * without fused operations. */

/* Bytes after a row, and 32-bit values after an array, that kernels may read
 * and write. */
#define SPDL_LOOP_PADDING 64

/* Smallest and largest sample at each position of a row, modulo 96, a multiple
 * of the size of a pixel and of a register. */
typedef struct {
  guint8 low[96];
  guint8 high[96];
} SpdlExtremes;

/* A kernel of a blur in fixed point with 15 bits: the center, and the weights
 * of @n neighbors on each side. */
typedef struct {
  guint n;
  gint16 center;
  gint16 weights[127];
} SpdlBlur;

typedef struct {
  const gchar *name;

  /* @n: number of samples, or of pixels of 3 samples */
  void (*map) (guint8 *row, gsize n, const guint8 *table);
  void (*map_pixels) (guint8 *row, guint n, const guint8 (*tables)[256]);
  void (*blend_gray) (guint8 *row, guint n, gboolean bgr, float ratio);
  void (*shift_hue) (guint8 *row, guint n, gboolean bgr, float factor);
  guint64 (*sum_gray) (const guint8 *row, guint n, gboolean bgr);
  void (*find_extremes) (const guint8 *row, gsize n, SpdlExtremes *extremes);
  /* @rows: the row and its neighbors. The first and the last @step samples are
   * copied. */
  void (*sharpen) (guint8 *out, const guint8 *const rows[3], gsize n,
      guint step, float ratio);
  /* @rows: 2 n + 1 rows. @out has 6 fractional bits. */
  void (*blur_columns) (
      gint16 *out, const guint8 *const *rows, gsize n, const SpdlBlur *blur);
  /* @in: the first sample; those before and after it exist */
  void (*blur_row) (
      guint8 *out, const gint16 *in, gsize n, guint step, const SpdlBlur *blur);
  void (*warp_row) (const SpdlWarp *warp, guint y, guint8 *out);
  void (*mirror) (guint8 *row, guint n, guint n_channels);
  /* Adds weighted samples. */
  void (*add_weighted) (float *sums, const guint8 *row, gsize n, float weight);
  void (*store_sums) (guint8 *row, const float *sums, gsize n);
} SpdlPixelKernels;

/* Returns the best set for this CPU, or the one named by the environment
 * variable SPDL_KERNELS, if it is available. The variable is read once. */
const SpdlPixelKernels *spdl_pixel_kernels_get (void);

/* Returns (nullable) the set with that name: c or avx2. */
const SpdlPixelKernels *spdl_pixel_kernels_find (const gchar *name);

extern const SpdlPixelKernels spdl_pixel_kernels_c;
#if defined(__x86_64__) || defined(__i386__)
#define SPDL_PIXEL_KERNELS_X86
extern const SpdlPixelKernels spdl_pixel_kernels_avx2;
#endif

G_END_DECLS
