/* gst-spdl: destination of the planes of a decoded image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SPDL_PLANES 3

/* Plane layout of a JPEG: Y, Cb and Cr, or only Y. */
typedef struct {
  guint n_planes; /* 1 or 3 */
  /* Chroma is subsampled by two, horizontally or vertically. */
  gboolean half_x[SPDL_PLANES];
  gboolean half_y[SPDL_PLANES];
} SpdlSampling;

/* Receives an image from a decoder plane by plane, like SpdlRows. Decoders may
 * write a row up to the end of its last block. */
typedef struct {
  guint8 *(*get_row) (gpointer user_data, guint plane, guint y);
  void (*rows_done) (gpointer user_data, guint plane, guint y_end);
  gpointer user_data;

  /* Needed range of pixels. Samples outside of it need not be written. */
  guint x_begin, x_end;
  guint y_begin, y_end;
  guint8 missing[SPDL_PLANES]; /* value of missing samples, per plane */
} SpdlPlanes;

G_END_DECLS
