/* gst-spdl: still images of all formats for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Color of all images. */
#define STILLS_COLOR 0x336699u

/* Image formats. */
typedef enum {
  STILL_JPEG,
  STILL_PNG,
  STILL_WEBP,
  STILL_GIF,
  STILL_BMP,
  STILL_TIFF,
  STILL_PNM,
  STILL_JP2,
  N_STILLS,
} StillKind;

/* Makes an image with noise in the upper half, so that there is much data, and
 * STILLS_COLOR in the lower half. */
GBytes *stills_make (StillKind kind, guint width, guint height);
const gchar *stills_get_name (StillKind kind);

/* Makes a file with only the header of an image of that size, followed by
 * zeros. */
GBytes *stills_make_header (StillKind kind, guint width, guint height);

/* Makes a CMYK JPEG with one color, given inverted as in files. */
GBytes *stills_make_cmyk (
    gboolean ycck, guint width, guint height, const guint8 *color);

/* Makes a small JPEG with @n scans. */
#define STILLS_MAX_SCANS (64 * 11)
GBytes *stills_make_scans (guint n);

G_END_DECLS
