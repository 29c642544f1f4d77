/* gst-spdl: boxes and keypoints of an image that was decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/codec/result/imagetransform.h"

G_BEGIN_DECLS

/* Moves the shapes of @item, if it has any, like its image, and sets them for
 * @result, which must be writable. Those of a sample belong to its main part.
 * Returns FALSE with @error set if they are wrong, or if @result is not an
 * image.
 */
gboolean spdl_item_shapes_move (GstBuffer *result, const GstSpdlItemMeta *item,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    GError **error);

G_END_DECLS
