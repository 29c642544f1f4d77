/* gst-spdl: WAV parser
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* Description of the PCM samples in a RIFF, RF64 or BW64 WAVE file. */
typedef struct {
  GstAudioFormat format;
  guint rate;
  guint n_channels;
  gboolean has_positions;
  GstAudioChannelPosition positions[SPDL_MAX_CHANNELS];
  gsize at;                /* offset of the first sample */
  guint64 n;               /* number of complete frames that are present */
  const gchar *corruption; /* reason why samples must be missing; else NULL */
} SpdlWav;

gboolean spdl_wav_is_wav (const guint8 *data, gsize size);

/* Returns FALSE with @error set if the file is not WAV or not PCM. */
gboolean
spdl_wav_read (SpdlWav *self, const guint8 *data, gsize size, GError **error);

G_END_DECLS
