/* gst-spdl: decodes a window of an audio file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>

#include "plugins/codec/audio/audiofuncs.h"

G_BEGIN_DECLS

/* Takes the decoded blocks of one sound after the other, and makes of them one
 * buffer with the window, rate, channels and format that are wanted, with
 * libswresample. One thread at a time. */

typedef struct _SpdlAudioWindow SpdlAudioWindow;

/* A sound before it is converted. */
typedef struct {
  enum AVSampleFormat format;
  guint rate;
  const AVChannelLayout *layout;
  guint64 n;        /* samples a channel, at most; G_MAXUINT64: not known */
  guint64 expected; /* about so many; 0: not known */
} SpdlAudioInput;

SpdlAudioWindow *spdl_audio_window_new (void);
void spdl_audio_window_free (SpdlAudioWindow *self);

/* Returns the first sample that @config needs of a sound of @rate. */
guint64
spdl_audio_window_find_start (const SpdlAudioConfig *config, guint rate);

/* Begins a sound; the one before is forgotten. Returns FALSE with @error set
 * if it cannot be converted. */
gboolean spdl_audio_window_begin (SpdlAudioWindow *self,
    const SpdlAudioConfig *config, const SpdlAudioInput *input, GError **error);

/* Whether samples of this kind belong to the sound that has begun. */
gboolean spdl_audio_window_takes (const SpdlAudioWindow *self,
    enum AVSampleFormat format, gint rate, gint n_channels);

/* Takes @n samples of each channel, whose first one is at @position of the
 * sound; samples that came before, or are not needed, are left out. @planes: as
 * many as the format has. Returns FALSE if no more are needed, or with @error
 * set. */
gboolean spdl_audio_window_write (SpdlAudioWindow *self, gint64 position,
    const guint8 *const *planes, gsize n, GError **error);

/* Ends the sound behind the last sample that was written.
 *
 * Returns: (transfer full) (nullable): the result, described by *@info, or NULL
 *     with @error set if the window has no sample */
GstBuffer *spdl_audio_window_end (
    SpdlAudioWindow *self, GstAudioInfo *info, GError **error);

/* The format of libavutil's that holds samples of @format; those of 24 bits are
 * to be widened. */
enum AVSampleFormat spdl_audio_window_get_format (GstAudioFormat format);

/* Sets @layout to the channels at @positions; @n: of them. Returns FALSE if
 * they are not known. */
gboolean spdl_audio_window_set_layout (
    AVChannelLayout *layout, const GstAudioChannelPosition *positions, guint n);

G_END_DECLS
