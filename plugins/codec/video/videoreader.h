/* gst-spdl: reader of a video's frames
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

extern const SpdlVideoFuncs spdl_video_reader_funcs;

G_END_DECLS
