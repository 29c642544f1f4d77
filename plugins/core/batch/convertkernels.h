/* gst-spdl: inner loops of the conversion
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* All sets do the same, to the bit: a multiplication and an addition, each
 * rounded to float32; float16 by rounding that to the nearest, ties to even. */

typedef guint16 SpdlHalf;

/* @scale, @shift: @period of them, a multiple of SPDL_CONVERT_LANES, for the
 * samples from the first on, over and over. */
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
  /* Takes pixels of three samples apart. */
  void (*split3) (const guint8 *in, gsize n, guint8 *a, guint8 *b, guint8 *c);
} SpdlConvertKernels;

/* The best set for this machine; or the one that SPDL_KERNELS names in the
 * environment, for tests. */
const SpdlConvertKernels *spdl_convert_kernels_get (void);

/* That of @name ("c", "avx2", "neon"), or NULL if the machine has none. */
const SpdlConvertKernels *spdl_convert_kernels_find (const gchar *name);

SpdlHalf spdl_half_from_float (float value);

G_END_DECLS
