/* gst-spdl: negotiated format of decoded audio
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/audioconfig.h"

#include "plugins/codec/common/capshelper.h"

#define RAW "audio/x-raw"

/* What downstream takes and the properties allow. */
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
spdl_audio_config_init (SpdlAudioConfig *self,
    const SpdlAudioSettings *settings, GstCaps *allowed, GError **error)
{
  GstCaps *caps;
  gboolean ok;

  *self = (SpdlAudioConfig){ .format = GST_AUDIO_FORMAT_UNKNOWN,
    .offset = settings->offset,
    .duration = settings->duration };
  if (gst_caps_is_empty (allowed))
    return TRUE;
  caps = gst_caps_ref (allowed);
  ok = choose_caps (self, settings, &caps, error);
  gst_caps_unref (caps);
  return ok;
}
