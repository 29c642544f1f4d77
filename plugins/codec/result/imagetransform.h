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
  guint exif_orientation; /* of the file */
  guint turned;           /* EXIF orientation that is applied */
  gboolean is_guess;      /* whether the main image decides it, although the
                             image could also be upright */
  guint orientation;      /* `turned`, combined with the random flip */
  SpdlRectangle box;      /* crop in the upright image, in whole pixels */
  gboolean flip;
  /* Crop and result in the coordinates of the stored image. The box has
   * `unit_x` and `unit_y` units per pixel. */
  SpdlFit fit;
  guint unit_x, unit_y;
} SpdlImageTransform;

/* @orientation: EXIF orientation of the file
 * Returns FALSE with @error set if the image cannot be aligned with the main
 * image of its sample. */
gboolean spdl_image_transform_init (SpdlImageTransform *self,
    const SpdlDecodeConfig *config, const SpdlSource *source, guint width,
    guint height, guint orientation, GError **error);

/* Returns whether two sizes can be those of one image at different scales, each
 * side rounded up or down. */
gboolean spdl_sizes_agree (
    guint width, guint height, guint other_width, guint other_height);

/* Returns the largest reduction (1, 2, 4 or 8) of the decoded image at which
 * the crop is still at least as large as its place in the result. */
guint spdl_image_transform_get_reduction (const SpdlImageTransform *self);

/* Returns whether the result is the stored image, pixel by pixel. */
gboolean spdl_image_transform_is_plain (const SpdlImageTransform *self);

G_END_DECLS
