/* gst-spdl: reader of the EXIF orientation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Both return 1 to 8, and 1 (upright) if there is no valid orientation. All
 * reads are bounds-checked. */

/* @data: an EXIF block, with or without "Exif\0\0" before it. */
guint spdl_exif_get_orientation (const guint8 *data, gsize size);
/* Searches the segments before the first scan. */
guint spdl_exif_find_in_jpeg (const guint8 *data, gsize size);

/* Returns the orientation for a turn and a mirroring after it, as the
 * containers of HEIC and AVIF declare them.
 *
 * @angle: anticlockwise, in quarters of a turn
 * @axis: 0 exchanges top and bottom, 1 left and right; -1: no mirroring */
guint spdl_exif_find_turn (guint angle, gint axis);

G_END_DECLS
