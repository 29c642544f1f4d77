/* gst-spdl: choice of the inner loops of a resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* A set of loops for one kind of CPU. All sets give the same bytes: sums of 32
 * bits, half of the last bit added, shifted down and cut off.
 *
 * Rows are shrunk to values of 16 bits, of which some are below the point: if
 * they were rounded to bytes in between, errors of many rows could add up. Like
 * bytes they are cut off at 0 and 255: where filters go below 0 it matters. */

/* So many rows are shrunk at a time, so that a weight is fetched once for all
 * of them, and so many bytes behind each row may be read and written. */
#define SPDL_KERNEL_ROWS 4
#define SPDL_KERNEL_PADDING 64

typedef struct {
  const gchar *name;

  /* Along SPDL_KERNEL_ROWS rows, one behind the other: of four bytes a pixel to
   * three values with @bits below the point, and of one to one. The
   * strides are in values, and in bytes. */
  void (*shrink_pixels) (gint16 *out, gsize out_stride, const guint8 *in,
      gsize in_stride, const SpdlFilter *filter, guint bits);
  void (*shrink_bytes) (gint16 *out, gsize out_stride, const guint8 *in,
      gsize in_stride, const SpdlFilter *filter, guint bits);

  /* Sums up columns of @n_rows rows, an even number, into the @n bytes of @out,
   * and not one more. @shift: of weights and values together. */
  void (*sum_rows) (guint8 *out, gsize n, const gint16 *const *rows,
      const gint16 *weights, guint n_rows, guint shift);

  /* Of @n pixels in planes of full range YCbCr makes the 3 @n bytes of @out,
   * and not one more, red first or, with @bgr, blue. */
  void (*join_planes) (
      guint8 *out, const guint8 *const planes[3], guint n, gboolean bgr);
} SpdlKernels;

/* The best set for this CPU; or the one that the environment variable
 * SPDL_KERNELS names, if it is there. Read once. */
const SpdlKernels *spdl_kernels_get (void);

/* A set by its name: c, sse2, avx2 or neon. NULL if it cannot run here. */
const SpdlKernels *spdl_kernels_find (const gchar *name);

/* Of the files, each for its own. */
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

/* What JFIF adds to Y: the parts of these factors beyond 1 of Cr to red, and
 * beyond 2 of Cb to blue, 15 bits below the point. Green's are multiplied with
 * so many bits of the chroma below the point, so that they are rounded once. */
#define SPDL_RED_CR 13173    /* 1.402 - 1 */
#define SPDL_BLUE_CB (-7471) /* 1.772 - 2 */
#define SPDL_GREEN_CB (-11277)
#define SPDL_GREEN_CR (-23401)
#define SPDL_GREEN_BITS 6

/* Two weights side by side, as the CPU has them in memory. */
static inline gint32
spdl_kernel_get_pair (const gint16 *weights)
{
  gint32 pair;

  __builtin_memcpy (&pair, weights, sizeof pair);
  return pair;
}

G_END_DECLS
