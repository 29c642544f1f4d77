/* gst-spdl: negotiated format of decoded audio
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/audioconfig.h"

#include <string.h>

#include "gst/spdl/engine/random.h"
#include "plugins/codec/common/capshelper.h"

#define RAW "audio/x-raw"

/* Intersects the downstream caps with the properties. */
static gboolean
choose_caps (SpdlAudioConfig *self, const SpdlAudioSettings *settings,
    GstCaps **caps, GError **error)
{
  GstStructure *s;

  if (!spdl_caps_set_number (caps, RAW, "rate", settings->rate, error) ||
      !spdl_caps_set_number (
          caps, RAW, "channels", settings->channels, error) ||
      !spdl_caps_set_formats (caps, RAW, "audio-format", settings->format,
          SPDL_AUDIO_PREFERRED_FORMAT, error))
    return FALSE;
  *caps = gst_caps_make_writable (gst_caps_truncate (*caps));
  s = gst_caps_get_structure (*caps, 0);
  self->rate =
      settings->rate ? settings->rate : spdl_get_fixed_number (s, "rate");
  self->channels = settings->channels ? settings->channels
                                      : spdl_get_fixed_number (s, "channels");
  gst_structure_fixate_field (s, "format");
  self->format =
      gst_audio_format_from_string (gst_structure_get_string (s, "format"));
  return TRUE;
}

gboolean
spdl_audio_settings_are_set (const SpdlAudioSettings *self)
{
  return self->rate > 0 || self->channels > 0 || self->format ||
         self->offset > 0 || GST_CLOCK_TIME_IS_VALID (self->duration);
}

gboolean
spdl_audio_config_init (SpdlAudioConfig *self,
    const SpdlAudioSettings *settings, GstCaps *allowed, GError **error)
{
  GstCaps *caps;
  gboolean ok;

  *self = (SpdlAudioConfig){ .format = GST_AUDIO_FORMAT_UNKNOWN,
    .offset = settings->offset,
    .duration = settings->duration };
  if (!GST_CLOCK_TIME_IS_VALID (settings->offset) &&
      !GST_CLOCK_TIME_IS_VALID (settings->duration)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "offset=-1 selects a random part of each file, but its length is not "
        "set: set duration");
    return FALSE;
  }
  if (gst_caps_is_empty (allowed))
    return TRUE;
  caps = gst_caps_ref (allowed);
  ok = choose_caps (self, settings, &caps, error);
  gst_caps_unref (caps);
  return ok;
}

/* Returns in @chosen the file's channel positions if it has @n channels, or
 * else GStreamer's fallback positions. */
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

void
spdl_audio_config_draw (
    SpdlAudioConfig *self, const guint64 key[3], guint rate, guint64 n)
{
  const guint64 whole[] = { key[0], key[1], key[2], SPDL_AUDIO_KEY };
  guint64 begin = 0, wanted;
  SpdlRandom random;

  if (GST_CLOCK_TIME_IS_VALID (self->offset))
    return;
  if (self->rate > 0) {
    n = gst_util_uint64_scale (n, self->rate, rate);
    rate = self->rate;
  }
  wanted = nearest_sample (self->duration, rate);
  spdl_random_init (&random, whole, G_N_ELEMENTS (whole));
  if (n > wanted)
    begin = spdl_random_below (&random, n - wanted + 1);
  self->offset = gst_util_uint64_scale_round (begin, GST_SECOND, rate);
}
