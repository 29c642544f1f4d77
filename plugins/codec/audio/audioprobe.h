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
  SPDL_AUDIO_SURE,  /* it is one */
  SPDL_AUDIO_MIXED, /* it may hold a video */
  SPDL_AUDIO_MAYBE, /* it begins as MPEG audio does, and as other files may */
} SpdlAudioProbe;

/* Looks at the first bytes, behind ID3 tags, and sets all of @file but if it
 * returns NONE or MAYBE. */
SpdlAudioProbe
spdl_audio_probe (const guint8 *data, gsize size, SpdlAudioFile *file);

/* Whether an MP4 has a video track, or does not say what it has. */
gboolean spdl_audio_probe_mp4_video (const guint8 *data, gsize size);

G_END_DECLS
