/* gst-spdl: crop, resize and orientation of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/fit.h"
#include "plugins/codec/result/decodeconfig.h"

G_BEGIN_DECLS

/* Crop, resize and orientation of one image. */
typedef struct {
  guint width,
      height; /* of the stored image, before its orientation is applied */
  guint orientation; /* EXIF orientation, combined with the random flip */
  SpdlRectangle box; /* crop in the upright image */
  gboolean flip;
  /* Crop and result in the coordinates of the stored image. */
  SpdlFit fit;
} SpdlImageTransform;

/* @orientation: EXIF orientation of the file
 * @epoch, @index: identify the item */
void spdl_image_transform_init (SpdlImageTransform *self,
    const SpdlDecodeConfig *config, guint width, guint height,
    guint orientation, guint64 epoch, guint64 index);

/* Returns the largest reduction (1, 2, 4 or 8) of the decoded image at which
 * the crop is still at least as large as its place in the result. */
guint spdl_image_transform_get_reduction (const SpdlImageTransform *self);

/* Returns whether the result is the stored image, pixel by pixel. */
gboolean spdl_image_transform_is_plain (const SpdlImageTransform *self);

G_END_DECLS
