/* gst-spdl: WAV files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* What a RIFF, RF64 or BW64 file of WAVE says of its samples, which lie in it
 * as they are. */
typedef struct {
  GstAudioFormat format;
  guint rate;
  guint n_channels;
  gboolean has_positions;
  GstAudioChannelPosition positions[SPDL_MAX_CHANNELS];
  gsize at;                /* the first sample */
  guint64 n;               /* of all channels, that are there */
  const gchar *corruption; /* how it is that some must be missing; else NULL */
} SpdlWav;

gboolean spdl_wav_is_wav (const guint8 *data, gsize size);

/* FALSE with @error set if it is none, or its samples are not PCM. */
gboolean
spdl_wav_read (SpdlWav *self, const guint8 *data, gsize size, GError **error);

G_END_DECLS
