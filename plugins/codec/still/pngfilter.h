/* gst-spdl: filters of PNG rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Bytes after the rows that spdl_png_unfilter() may read. */
#define SPDL_PNG_PADDING 8

/* Undoes the filters of the rows of an image, or of a pass of an interlaced
 * one, in place, and marks the rows as not filtered. It ends before a row with
 * an unknown filter.
 *
 * @rows: each with its filter's number before it
 * @stride: number of bytes of a row, with that number
 * @pixel_size: 1 to 8; 1 for pixels of less than a byte */
void
spdl_png_unfilter (guint8 *rows, gsize stride, gsize n_rows, guint pixel_size);

/* The same in plain C, for comparison. */
void spdl_png_unfilter_plain (
    guint8 *rows, gsize stride, gsize n_rows, guint pixel_size);

G_END_DECLS
