/* gst-spdl: audio decoding with FFmpeg's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/audio/audiofuncs.h"

G_BEGIN_DECLS

extern const SpdlAudioFuncs spdl_audio_decoder_funcs;

/* Redirects the log of FFmpeg's libraries to GStreamer's log, and keeps errors
 * for messages. Call once per process. */
void spdl_audio_decoder_take_log (void);

G_END_DECLS
