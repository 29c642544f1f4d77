/* gst-spdl: resizing and color conversion of planar images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/planes.h"
#include "plugins/codec/resize/resize.h"

G_BEGIN_DECLS

/* Conversion from 8-bit Y'CbCr to R'G'B' for any matrix and range. Coefficients
 * have SPDL_COLORS_BITS fractional bits. */
typedef struct {
  gint32 y, y_offset;
  gint32 red_cr, green_cb, green_cr, blue_cb;
} SpdlColors;

#define SPDL_COLORS_BITS 14

/* @kr, @kb: luma weights of red and blue
 * @full: full range, instead of 16 to 235 for luma and 16 to 240 for chroma */
void spdl_colors_init (SpdlColors *self, double kr, double kb, gboolean full);

/* Resizes the planes of an image, including subsampled chroma, and converts
 * them to RGB at the output size, which has fewer pixels. The result equals
 * conversion before resizing, except for rounding and clamping. Not
 * thread-safe. */

typedef struct _SpdlPlaneJoin SpdlPlaneJoin;

SpdlPlaneJoin *spdl_plane_join_new (void);
void spdl_plane_join_free (SpdlPlaneJoin *self);

/* @job: in pixels of the image; pixel_size is ignored; nearest is not supported
 * @background: 0xRRGGBB, for missing samples
 *
 * Returns: NULL if memory cannot be allocated */
const SpdlPlanes *
spdl_plane_join_begin (SpdlPlaneJoin *self, const SpdlResizeJob *job,
    const SpdlSampling *sampling, gboolean bgr, guint32 background);

/* Sets the color conversion. The default is JFIF.
 * @colors: must stay valid until spdl_plane_join_end() */
void spdl_plane_join_set_colors (SpdlPlaneJoin *self, const SpdlColors *colors);

/* Writes the pixels. Call it after all rows are done. */
void spdl_plane_join_end (SpdlPlaneJoin *self);

G_END_DECLS
