/* gst-spdl: what spdldecode makes of sound
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlaudiotarget.h"

/* Leaves of @caps what agrees with @wanted (transfer full), which is what
 * @property is set to; FALSE with @error set if that is nothing. */
static gboolean
restrict_caps (
    GstCaps **caps, const gchar *property, GstCaps *wanted, GError **error)
{
  GstCaps *agreed = gst_caps_intersect (*caps, wanted);
  const gboolean ok = !gst_caps_is_empty (agreed);

  if (ok) {
    gst_caps_replace (caps, agreed);
  } else {
    g_autofree gchar *mine = gst_caps_to_string (wanted);
    g_autofree gchar *theirs = gst_caps_to_string (*caps);

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The property %s contradicts downstream, not negotiated: %s is set, "
        "but downstream takes %s",
        property, mine, theirs);
  }
  gst_caps_unref (agreed);
  gst_caps_unref (wanted);
  return ok;
}

static gboolean
restrict_number (
    GstCaps **caps, const gchar *property, guint number, GError **error)
{
  return number == 0 || restrict_caps (caps, property,
                            gst_caps_new_simple ("audio/x-raw", property,
                                G_TYPE_INT, (gint) number, NULL),
                            error);
}

static gboolean
restrict_format (
    GstCaps **caps, const SpdlAudioSettings *settings, GError **error)
{
  const gboolean ok = restrict_caps (caps, "audio-format",
      gst_caps_new_simple (
          "audio/x-raw", "format", G_TYPE_STRING, settings->format, NULL),
      settings->format_is_set ? error : NULL);

  return ok || !settings->format_is_set;
}

static guint
fixed_number (const GstStructure *s, const gchar *field)
{
  gint number;

  return gst_structure_get_int (s, field, &number) ? number : 0;
}

/* What downstream takes and the properties allow. */
static gboolean
choose (SpdlAudioTarget *self, const SpdlAudioSettings *settings,
    GstCaps **caps, GError **error)
{
  GstStructure *s;

  if (!restrict_number (caps, "rate", settings->rate, error) ||
      !restrict_number (caps, "channels", settings->channels, error) ||
      !restrict_format (caps, settings, error))
    return FALSE;
  *caps = gst_caps_make_writable (gst_caps_truncate (*caps));
  s = gst_caps_get_structure (*caps, 0);
  self->rate = settings->rate ? settings->rate : fixed_number (s, "rate");
  self->channels =
      settings->channels ? settings->channels : fixed_number (s, "channels");
  gst_structure_fixate_field (s, "format");
  self->format =
      gst_audio_format_from_string (gst_structure_get_string (s, "format"));
  return TRUE;
}

gboolean
spdl_audio_target_init (SpdlAudioTarget *self,
    const SpdlAudioSettings *settings, GstCaps *allowed, GError **error)
{
  GstCaps *caps;
  gboolean ok;

  *self = (SpdlAudioTarget){ .format = GST_AUDIO_FORMAT_UNKNOWN,
    .offset = settings->offset,
    .duration = settings->duration };
  if (gst_caps_is_empty (allowed))
    return TRUE;
  caps = gst_caps_ref (allowed);
  ok = choose (self, settings, &caps, error);
  gst_caps_unref (caps);
  return ok;
}

static guint64
nearest (GstClockTime time, guint rate)
{
  return gst_util_uint64_scale_round (time, rate, GST_SECOND);
}

void
spdl_audio_target_get_window (
    const SpdlAudioTarget *self, guint rate, guint64 *from, guint64 *to)
{
  const guint64 n = GST_CLOCK_TIME_IS_VALID (self->duration)
                        ? nearest (self->duration, rate)
                        : G_MAXUINT64;

  *from = nearest (self->offset, rate);
  *to = n < G_MAXUINT64 - *from ? *from + n : G_MAXUINT64;
}
