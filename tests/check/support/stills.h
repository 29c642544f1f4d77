/* gst-spdl: still images of all formats for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The colour of all of them. */
#define STILLS_COLOR 0x336699u

/* The kinds: all but the first are decoded by GStreamer's elements. */
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

/* An image with noise in its upper half, so that its data is long, and of
 * STILLS_COLOR below. */
GBytes *stills_make (StillKind kind, guint width, guint height);
const gchar *stills_get_name (StillKind kind);

/* No more than the header of an image of that size, and some zeros. */
GBytes *stills_make_header (StillKind kind, guint width, guint height);

/* A CMYK JPEG of one colour, given inverted as files have it. */
GBytes *stills_make_cmyk (
    gboolean ycck, guint width, guint height, const guint8 *color);

/* A small JPEG of so many scans. */
#define STILLS_MAX_SCANS (64 * 11)
GBytes *stills_make_scans (guint n);

G_END_DECLS
