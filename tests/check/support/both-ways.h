/* gst-spdl: a JPEG, decoded by libjpeg alone and with our Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* What of an image is asked for. */
typedef struct {
  guint reduction;      /* 1, 2, 4 or 8 */
  guint x_part, y_part; /* where it begins: parts of 256 of a side */
  guint width_part;     /* how much of it there is */
} Wish;

typedef struct {
  guint width, height; /* 0 where it has no header */
  guint n_warnings;
  gboolean fell_back; /* the scan was left to libjpeg */
} Outcome;

/* Decodes @data both ways, and ends the program where a pixel, a warning or an
 * error differs. */
Outcome decode_both_ways (const guint8 *data, gsize size, const Wish *wish);

/* Decodes @data with and without a crop of columns, and ends the program where
 * a pixel of the columns that were asked for differs. */
void check_columns (const guint8 *data, gsize size, const Wish *wish);
