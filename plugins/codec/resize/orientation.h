/* gst-spdl: rotates and mirrors images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Orientations are EXIF's: 1 is upright, 2 to 4 are mirrored or turned by half
 * a turn, 5 to 8 are those whose rows become columns. */

static inline gboolean
spdl_orientation_swaps_sides (guint orientation)
{
  return orientation >= 5;
}

/* Whether the columns of the stored image come in the opposite order. */
static inline gboolean
spdl_orientation_mirrors_x (guint orientation)
{
  return orientation == 2 || orientation == 3 || orientation >= 7;
}

/* Whether its rows do. */
static inline gboolean
spdl_orientation_mirrors_y (guint orientation)
{
  return orientation == 3 || orientation == 4 || orientation == 6 ||
         orientation == 7;
}

/* Writes the upright form of @in, @width by @height pixels of @pixel_size bytes
 * (1 or 3), to @out, whose sides are swapped where the orientation says so. */
void
spdl_orientation_apply (guint orientation, guint pixel_size, const guint8 *in,
    guint width, guint height, gsize in_stride, guint8 *out, gsize out_stride);

G_END_DECLS
