/* gst-spdl: crop, resize and orientation of one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/fit.h"
#include "plugins/codec/result/decodeconfig.h"

G_BEGIN_DECLS

/* What of an image is used, where it goes, and how it is turned there. */
typedef struct {
  guint width, height; /* of the image in the file, before it is turned */
  guint orientation;   /* EXIF's, and the flip that was drawn */
  SpdlRectangle box;   /* what is used of the upright image */
  gboolean flip;
  /* As `box`, and the result, lie before they are turned. */
  SpdlFit fit;
} SpdlImageTransform;

/* @orientation: of the file. @epoch, @index: which item it is. */
void spdl_image_transform_init (SpdlImageTransform *self,
    const SpdlDecodeConfig *config, guint width, guint height,
    guint orientation, guint64 epoch, guint64 index);

/* By how much the image may be divided when it is decoded, 1, 2, 4 or 8: what
 * is used of it is still at least as large as what becomes of it. */
guint spdl_image_transform_get_reduction (const SpdlImageTransform *self);

/* Whether all of the image becomes all of the result, pixel by pixel. */
gboolean spdl_image_transform_is_plain (const SpdlImageTransform *self);

G_END_DECLS
