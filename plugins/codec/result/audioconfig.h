/* gst-spdl: negotiated format of decoded audio
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* What comes out, in the machine's byte order. */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_AUDIO_FORMATS "{ F32LE, S16LE, S32LE, F64LE, U8 }"
#else
#define SPDL_AUDIO_FORMATS "{ F32BE, S16BE, S32BE, F64BE, U8 }"
#endif
#define SPDL_AUDIO_CAPS                                            \
  "audio/x-raw, format=(string)" SPDL_AUDIO_FORMATS                \
  ", layout=(string)interleaved, rate=(int)[ 1, max ], channels=(" \
  "int)[ 1, 64 ]"

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_AUDIO_PREFERRED_FORMAT "F32LE"
#else
#define SPDL_AUDIO_PREFERRED_FORMAT "F32BE"
#endif

/* The most channels that are taken. */
#define SPDL_MAX_CHANNELS 64

typedef struct {
  guint rate; /* 0: what downstream asks for, else as in the file */
  guint channels;
  gchar *format; /* NULL: downstream may choose */
  GstClockTime offset;
  GstClockTime duration; /* GST_CLOCK_TIME_NONE: to the end */
} SpdlAudioSettings;

/* The outcome of a negotiation, immutable. */
typedef struct {
  GstAudioFormat format; /* UNKNOWN: downstream takes no sound */
  guint rate;            /* 0: as in the file */
  guint channels;
  GstClockTime offset;
  GstClockTime duration;
} SpdlAudioConfig;

/* @allowed: what downstream takes, within SPDL_AUDIO_CAPS; empty: no sound.
 *
 * Returns FALSE with @error set if a setting contradicts it, by name. */
gboolean spdl_audio_config_init (SpdlAudioConfig *self,
    const SpdlAudioSettings *settings, GstCaps *allowed, GError **error);

/* Describes the result of a sound of @rate and @n_channels. @positions: their
 * channels; nullable: not known. */
void spdl_audio_config_set_info (const SpdlAudioConfig *self, guint rate,
    guint n_channels, const GstAudioChannelPosition *positions,
    GstAudioInfo *info);

/* The window in samples of @rate: it begins at the one nearest to the offset,
 * and has so many as are nearest to the duration, wherever it begins.
 * G_MAXUINT64 as the end is that of the file. */
void spdl_audio_config_get_window (
    const SpdlAudioConfig *self, guint rate, guint64 *from, guint64 *to);

G_END_DECLS
