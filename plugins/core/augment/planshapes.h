/* gst-spdl: boxes, masks and keypoints of an image that is augmented
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/shapes.h"
#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"
#include "plugins/core/augment/warp.h"

G_BEGIN_DECLS

/* Moves @shapes, whose new fields are in @extra, with the steps of the plan of
 * an image like @in. As in torchvision.transforms.v2, each step bounds the
 * boxes that it turns by upright ones, and clips them.
 *
 * Returns: (transfer full) (nullable): NULL with @error set if they are wrong,
 *     or a step has no place for them */
SpdlShapes *spdl_plan_move_shapes (const SpdlPlan *self,
    const SpdlShapes *shapes, const GstStructure *extra, SpdlPainter *painter,
    const SpdlRaster *in, GError **error);

G_END_DECLS
