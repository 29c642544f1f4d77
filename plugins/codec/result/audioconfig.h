/* gst-spdl: negotiated format of decoded audio
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* Output formats, in native byte order. */
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

/* Maximum number of channels. */
#define SPDL_MAX_CHANNELS 64

typedef struct {
  guint rate; /* 0: from downstream caps, or else as in the file */
  guint channels;
  gchar *format;         /* NULL: downstream may choose */
  GstClockTime offset;   /* GST_CLOCK_TIME_NONE: random */
  GstClockTime duration; /* GST_CLOCK_TIME_NONE: to the end */
} SpdlAudioSettings;

/* Returns whether a setting asks for audio. */
gboolean spdl_audio_settings_are_set (const SpdlAudioSettings *self);

/* Negotiated audio format. Immutable. */
typedef struct {
  GstAudioFormat format; /* UNKNOWN: downstream does not accept audio */
  guint rate;            /* 0: as in the file */
  guint channels;
  GstClockTime offset; /* GST_CLOCK_TIME_NONE: random, not drawn yet */
  GstClockTime duration;
} SpdlAudioConfig;

/* Constant of the key of random windows. */
#define SPDL_AUDIO_KEY G_GUINT64_CONSTANT (0x736f756e64000001)

/* @allowed: downstream caps, a subset of SPDL_AUDIO_CAPS; empty: downstream
 * does not accept audio
 * Returns FALSE with @error set, which names the property, if a setting
 * contradicts the caps. */
gboolean spdl_audio_config_init (SpdlAudioConfig *self,
    const SpdlAudioSettings *settings, GstCaps *allowed, GError **error);

/* Fills @info with the output format for a file with @rate and @n_channels.
 * @positions: (nullable): channel positions of the file; NULL: unknown */
void spdl_audio_config_set_info (const SpdlAudioConfig *self, guint rate,
    guint n_channels, const GstAudioChannelPosition *positions,
    GstAudioInfo *info);

/* Computes the window in samples at @rate. It starts at the sample nearest to
 * the offset; its length is the duration rounded to the nearest sample,
 * whatever the offset. @to is G_MAXUINT64 if the window extends to the end of
 * the file. */
void spdl_audio_config_get_window (
    const SpdlAudioConfig *self, guint rate, guint64 *from, guint64 *to);

/* Draws a random offset for a file with @n samples at @rate: one of the samples
 * of the result from which on the window is within the file, 0 if it is
 * shorter. It depends only on @key, the seed, the epoch and the index of the
 * item, and on how many there are: it is the first number of the generator that
 * fit.h describes, with SPDL_AUDIO_KEY at the end of the key. Does nothing if
 * the offset is known. */
void spdl_audio_config_draw (
    SpdlAudioConfig *self, const guint64 key[3], guint rate, guint64 n);

G_END_DECLS
