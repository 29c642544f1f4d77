/* gst-spdl: images for a resize, fed as a decoder does it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/resize.h"

/* Resizes @image, whose rows are without padding, as @job says. What does not
 * count of it is never shown; with @rand, junk is in its place, and the number
 * of rows at a time varies. */
gboolean feed (SpdlResize *resize, const SpdlResizeJob *job,
    const guint8 *image, GRand *rand);
