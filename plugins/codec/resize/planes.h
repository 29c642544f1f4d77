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

/* How a JPEG has its planes: Y, Cb and Cr, or Y alone. */
typedef struct {
  guint n_planes; /* 1 or 3 */
  /* Whether a sample is as wide, or as high, as two pixels. */
  gboolean half_x[SPDL_PLANES];
  gboolean half_y[SPDL_PLANES];
} SpdlSampling;

/* Takes an image from a decoder plane by plane, as SpdlRows takes it whole. A
 * row may be written to the end of its last block. */
typedef struct {
  guint8 *(*get_row) (gpointer user_data, guint plane, guint y);
  void (*rows_done) (gpointer user_data, guint plane, guint y_end);
  gpointer user_data;

  /* Which pixels count: samples that are in none of them need not be written.
   */
  guint x_begin, x_end;
  guint y_begin, y_end;
  guint8 missing[SPDL_PLANES]; /* the samples of what is not there */
} SpdlPlanes;

G_END_DECLS
