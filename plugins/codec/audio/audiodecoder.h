/* gst-spdl: audio decoding with FFmpeg's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

extern const SpdlAudioFuncs spdl_audio_decoder_funcs;

G_END_DECLS
