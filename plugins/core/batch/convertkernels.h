/* gst-spdl: SIMD and C kernels of the pixel conversion
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* All kernels have identical results: a multiplication and an addition, each
 * rounded to float32. For float16, the result is rounded to nearest, ties to
 * even. */

typedef guint16 SpdlHalf;

/* @scale and @shift have @period values, a multiple of SPDL_CONVERT_LANES,
 *     which are repeated from the first sample on. */
typedef struct {
  const gchar *name;
  void (*u8_to_f32) (const guint8 *in, float *out, gsize n, const float *scale,
      const float *shift, guint period);
  void (*u8_to_f16) (const guint8 *in, SpdlHalf *out, gsize n,
      const float *scale, const float *shift, guint period);
  void (*f32_to_f32) (const float *in, float *out, gsize n, const float *scale,
      const float *shift, guint period);
  void (*f32_to_f16) (const float *in, SpdlHalf *out, gsize n,
      const float *scale, const float *shift, guint period);
  /* Separates pixels of three channels into planes. */
  void (*split3) (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c);
} SpdlConvertKernels;

/* Returns the fastest kernels for this CPU, or for tests those that the
 * environment variable SPDL_KERNELS names. */
const SpdlConvertKernels *spdl_convert_kernels_get (void);

/* Returns the kernels @name ("c", "avx2", "neon"), or NULL if the CPU does not
 * support them. */
const SpdlConvertKernels *spdl_convert_kernels_find (const gchar *name);

SpdlHalf spdl_half_from_float (float value);

G_END_DECLS
