/* gst-spdl: detection of audio files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/audio/audiofuncs.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_AUDIO_NONE,
  SPDL_AUDIO_SURE,  /* audio */
  SPDL_AUDIO_MIXED, /* audio, or a video with audio */
  SPDL_AUDIO_MAYBE, /* MPEG audio, or another file with a similar beginning */
} SpdlAudioProbe;

/* Checks the first bytes after ID3 tags. Sets @file unless the result is NONE
 * or MAYBE. */
SpdlAudioProbe
spdl_audio_probe (const guint8 *data, gsize size, SpdlAudioFile *file);

/* Returns whether an MP4 has a video track, or does not list its tracks. */
gboolean spdl_audio_probe_mp4_video (const guint8 *data, gsize size);

G_END_DECLS
