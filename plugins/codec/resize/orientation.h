/* gst-spdl: rotation and mirroring of images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* EXIF orientations: 1 is upright, 2 to 4 are mirrored or rotated by 180
 * degrees, and 5 to 8 have rows and columns swapped. */

static inline gboolean
spdl_orientation_swaps_sides (guint orientation)
{
  return orientation >= 5;
}

/* Returns whether the columns of the stored image are in reverse order. */
static inline gboolean
spdl_orientation_mirrors_x (guint orientation)
{
  return orientation == 2 || orientation == 3 || orientation >= 7;
}

/* Returns whether the rows of the stored image are in reverse order. */
static inline gboolean
spdl_orientation_mirrors_y (guint orientation)
{
  return orientation == 3 || orientation == 4 || orientation == 6 ||
         orientation == 7;
}

G_END_DECLS
