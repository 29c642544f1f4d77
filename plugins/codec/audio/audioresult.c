/* gst-spdl: length and format of the result of an audio item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/result/audioconfig.h"

/* The file's channels if there are @n of them; else the usual ones. */
static void
choose_positions (guint n, guint n_file,
    const GstAudioChannelPosition *positions, GstAudioChannelPosition *chosen)
{
  const guint64 usual = gst_audio_channel_get_fallback_mask (n);

  if (n == n_file && positions &&
      gst_audio_check_valid_channel_positions (positions, n, TRUE))
    memcpy (chosen, positions, n * sizeof *chosen);
  else if (n == 1)
    chosen[0] = GST_AUDIO_CHANNEL_POSITION_MONO;
  else if (!usual || !gst_audio_channel_positions_from_mask (n, usual, chosen))
    for (guint i = 0; i < n; i++)
      chosen[i] = GST_AUDIO_CHANNEL_POSITION_NONE;
}

void
spdl_audio_config_set_info (const SpdlAudioConfig *self, guint rate,
    guint n_channels, const GstAudioChannelPosition *positions,
    GstAudioInfo *info)
{
  const guint n = self->channels ? self->channels : n_channels;
  GstAudioChannelPosition chosen[SPDL_MAX_CHANNELS];

  choose_positions (n, n_channels, positions, chosen);
  gst_audio_info_set_format (
      info, self->format, self->rate ? self->rate : rate, n, chosen);
}

static guint64
nearest_sample (GstClockTime time, guint rate)
{
  return gst_util_uint64_scale_round (time, rate, GST_SECOND);
}

void
spdl_audio_config_get_window (
    const SpdlAudioConfig *self, guint rate, guint64 *from, guint64 *to)
{
  const guint64 n = GST_CLOCK_TIME_IS_VALID (self->duration)
                        ? nearest_sample (self->duration, rate)
                        : G_MAXUINT64;

  *from = nearest_sample (self->offset, rate);
  *to = n < G_MAXUINT64 - *from ? *from + n : G_MAXUINT64;
}
