/* gst-spdl: geometric transforms of images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/augment/oplist.h"

G_BEGIN_DECLS

/* An image of 8-bit samples; pixels have 1 or 3 of them. */
typedef struct {
  guint8 *data;
  gsize stride;
  guint width;
  guint height;
  guint n_channels;
  gboolean bgr;
} SpdlRaster;

/* For each pixel of the result, the position in the source with the origin in
 * the center of the first pixel is
 *
 *     x = (m0 X + m1 Y + m2) / (m6 X + m7 Y + m8)
 *     y = (m3 X + m4 Y + m5) / (m6 X + m7 Y + m8)
 *
 * where (X, Y) is the position of the pixel in the result. Samples are
 * interpolated like grid_sample() of PyTorch with padding_mode="zeros". */
typedef struct {
  const SpdlRaster *in;
  SpdlWarpFilter filter;
  SpdlFill fill; /* in the order of the samples */
  gboolean is_projective;
  double m[9];
} SpdlWarp;

/* Sets the matrix of @step, an affine, rotate or perspective. */
void
spdl_warp_init (SpdlWarp *self, const SpdlStep *step, const SpdlRaster *in);

G_END_DECLS
