/* gst-spdl: window of an audio file, converted to the output format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

/* Collects decoded blocks into one buffer with the requested window, rate,
 * channels and format. Conversion uses libswresample. Not thread-safe. */

typedef struct _SpdlAudioWindow SpdlAudioWindow;

/* Input format. */
typedef struct {
  enum AVSampleFormat format;
  guint rate;
  const AVChannelLayout *layout;
  guint64 n; /* upper bound of samples per channel; G_MAXUINT64: unknown */
  guint64 expected; /* estimated number of samples; 0: unknown */
} SpdlAudioInput;

SpdlAudioWindow *spdl_audio_window_new (void);
void spdl_audio_window_free (SpdlAudioWindow *self);

/* Returns the first input sample at @rate that @config needs.
 * @to: (out) (optional): the end of what it needs, and a few more;
 * G_MAXUINT64: all */
guint64 spdl_audio_window_find_start (
    const SpdlAudioConfig *config, guint rate, guint64 *to);

/* Starts a stream and drops the previous one. Returns FALSE with @error set if
 * the conversion is not possible. */
gboolean spdl_audio_window_begin (SpdlAudioWindow *self,
    const SpdlAudioConfig *config, const SpdlAudioInput *input, GError **error);

/* Returns whether samples of this format belong to the current stream. */
gboolean spdl_audio_window_takes (const SpdlAudioWindow *self,
    enum AVSampleFormat format, gint rate, gint n_channels);

/* Adds @n samples per channel, the first of which is at @position. Samples that
 * are not needed, or were added before, are dropped.
 * @planes: as many as the format has
 * Returns FALSE if no more samples are needed, or with @error set. */
gboolean spdl_audio_window_write (SpdlAudioWindow *self, gint64 position,
    const guint8 *const *planes, gsize n, GError **error);

/* Ends the stream after the last added sample.
 * @info: (out): describes the result
 * Returns: (transfer full) (nullable): the result, or NULL with @error set if
 * the window has no samples */
GstBuffer *spdl_audio_window_end (
    SpdlAudioWindow *self, GstAudioInfo *info, GError **error);

/* Returns the libavutil sample format for @format. 24-bit samples must be
 * widened to 32 bits first. */
enum AVSampleFormat spdl_audio_window_get_format (GstAudioFormat format);

/* Sets @layout to the @n channels at @positions. Returns FALSE if a position is
 * unknown. */
gboolean spdl_audio_window_set_layout (
    AVChannelLayout *layout, const GstAudioChannelPosition *positions, guint n);

G_END_DECLS
