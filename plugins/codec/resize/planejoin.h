/* gst-spdl: resizes planes and joins them to pixels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/planes.h"
#include "plugins/codec/resize/resize.h"

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

/* Resizes the planes of an image as they are, chroma from what there is of it,
 * and makes pixels at the size that comes out, where there are fewer. The same
 * as to make pixels first and to resize these, but for roundings and where
 * colours are cut off. One thread. */

typedef struct _SpdlPlaneJoin SpdlPlaneJoin;

SpdlPlaneJoin *spdl_plane_join_new (void);
void spdl_plane_join_free (SpdlPlaneJoin *self);

/* @job: of the image in pixels; pixel_size counts for nothing, nearest is not
 * for planes. @background: 0xRRGGBB, for what is missing. Returns NULL if there
 * is no memory. */
const SpdlPlanes *
spdl_plane_join_begin (SpdlPlaneJoin *self, const SpdlResizeJob *job,
    const SpdlSampling *sampling, gboolean bgr, guint32 background);

/* Says what the planes' colours are, if they are not those of JPEGs. @colors:
 * must stay until the end. */
void spdl_plane_join_set_colors (SpdlPlaneJoin *self, const SpdlColors *colors);

/* Writes the pixels, once all rows are done. */
void spdl_plane_join_end (SpdlPlaneJoin *self);

G_END_DECLS
