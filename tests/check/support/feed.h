/* gst-spdl: input for the resizer, as from a decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/resize.h"

/* Resizes @image, whose rows have no padding, with @job. Pixels that are not
 * needed are not passed. With @rand, they are replaced by random bytes, and the
 * number of rows per call varies. */
gboolean feed (SpdlResize *resize, const SpdlResizeJob *job,
    const guint8 *image, GRand *rand);
