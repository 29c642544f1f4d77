/* gst-spdl: color matrices of video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* From Y'CbCr of 8 bits to R'G'B', by whatever matrix and range; in parts of
 * 1 << SPDL_COLORS_BITS. */
typedef struct {
  gint32 y, y_offset;
  gint32 red_cr, green_cb, green_cr, blue_cb;
} SpdlColors;

#define SPDL_COLORS_BITS 14

/* @kr, @kb: the matrix's weights of red and blue; @full: whether all values
 * are used, not only 16 to 235, and 240. */
void spdl_colors_init (SpdlColors *self, double kr, double kb, gboolean full);

/* Makes @n pixels of three bytes of those in @planes. */
void spdl_colors_join (const SpdlColors *self, guint8 *out,
    const guint8 *const planes[3], guint n, gboolean bgr);

G_END_DECLS
