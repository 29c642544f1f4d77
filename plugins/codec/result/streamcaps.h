/* gst-spdl: what the caps of a decoded image keep of the input's
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Adds `framerate` and `pixel-aspect-ratio` of the input caps to the caps of
 * images. Keeps the last result, since most items have equal caps. */
typedef struct {
  GstCaps *input;
  GstCaps *image;
  GstCaps *result;
} SpdlStreamCaps;

void spdl_stream_caps_clear (SpdlStreamCaps *self);

/* Resizing does not change the pixel aspect ratio: with resize=stretch, it is
 * that of the input as well.
 *
 * @image: caps of the result
 * @input: (nullable): caps of its item
 *
 * Returns: (transfer none): @image itself if there is nothing to add */
GstCaps *
spdl_stream_caps_add (SpdlStreamCaps *self, GstCaps *image, GstCaps *input);

G_END_DECLS
