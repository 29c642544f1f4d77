/* gst-spdl: JPEG decoding with and without gst-spdl's Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* Requested part of an image. */
typedef struct {
  guint reduction;      /* 1, 2, 4 or 8 */
  guint x_part, y_part; /* start, in 1/256 of the side */
  guint width_part;     /* width, in 1/256 */
} Wish;

typedef struct {
  guint width, height; /* 0 if there is no header */
  guint n_warnings;
  gboolean fell_back; /* libjpeg decoded the scan */
} Outcome;

/* Decodes @data with both decoders. Aborts if a pixel, warning or error
 * differs. */
Outcome decode_both_ways (const guint8 *data, gsize size, const Wish *wish);

/* Decodes @data with and without cropping columns. Aborts if a pixel in the
 * requested columns differs. */
void check_columns (const guint8 *data, gsize size, const Wish *wish);
