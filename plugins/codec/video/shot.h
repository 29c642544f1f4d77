/* gst-spdl: from a video's frame to an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/result/canvas.h"

G_BEGIN_DECLS

/* Draws @frame as @view and @target say: as planes, in the colours that it has,
 * where that does; else through @picture.
 *
 * Returns: (transfer full): NULL with @error set if it cannot be drawn
 * @caps: (out) (transfer none): the image's, until the next */
GstBuffer *spdl_shot_draw (const SpdlFrame *frame, SpdlCanvas *canvas,
    SpdlPicture *picture, const SpdlTarget *target, const SpdlView *view,
    GstCaps **caps, GError **error);

G_END_DECLS
