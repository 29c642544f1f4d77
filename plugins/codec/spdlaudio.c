/* gst-spdl: the work on one sound
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlaudio.h"

#include "spdlsound.h"
#include "spdltrack.h"
#include "spdlvoices.h"
#include "spdlwav.h"

struct _SpdlAudio {
  SpdlVoices *voices;
  SpdlSound *sound;

  /* The file in hand. */
  const guint8 *data;
  gboolean is_wav;
  SpdlWav wav;
  SpdlTrack track;
  GError *error; /* of the look */
};

SpdlAudio *
spdl_audio_new (void)
{
  SpdlAudio *self = g_new0 (SpdlAudio, 1);

  self->voices = spdl_voices_new ();
  self->sound = spdl_sound_new ();
  spdl_track_init (&self->track);
  return self;
}

void
spdl_audio_free (SpdlAudio *self)
{
  spdl_voices_free (self->voices);
  spdl_sound_free (self->sound);
  spdl_track_clear (&self->track);
  g_clear_error (&self->error);
  g_free (self);
}

gboolean
spdl_audio_look (SpdlAudio *self, const guint8 *data, gsize size)
{
  self->data = data;
  g_clear_error (&self->error);
  self->is_wav = spdl_wav_is_wav (data, size);
  if (self->is_wav) {
    spdl_wav_read (&self->wav, data, size, &self->error);
    return TRUE;
  }
  return spdl_track_read (&self->track, data, size, &self->error) ||
         self->error;
}

static void
set_damage (const gchar *name, const gchar *damage, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken %s: %s", name, damage);
}

/* WAV */

/* The window as the file has it, without a copy; NULL where it lies so that
 * nobody could read its numbers there. */
static GstBuffer *
slice (SpdlAudio *self, GstBuffer *item, guint64 from, guint64 n)
{
  const SpdlWav *wav = &self->wav;
  const gsize size = gst_audio_format_get_info (wav->format)->width / 8;
  const gsize at = wav->at + from * size * wav->n_channels;

  if (size != 1 && GPOINTER_TO_SIZE (self->data + at) % size != 0)
    return NULL;
  return gst_buffer_copy_region (
      item, GST_BUFFER_COPY_MEMORY, at, n * size * wav->n_channels);
}

static GstBuffer *
decode_wav (SpdlAudio *self, const SpdlAudioTarget *target, GstBuffer *item,
    GstCaps **caps, GError **error)
{
  const SpdlWav *wav = &self->wav;
  const SpdlSoundInput input = { wav->format, wav->rate, wav->n_channels,
    wav->has_positions ? wav->positions : NULL, wav->n };
  const SpdlBlock block = { .format = wav->format,
    .n_channels = wav->n_channels,
    .planes = { self->data + wav->at },
    .n = wav->n };
  GstBuffer *result = NULL;
  GError *reason = NULL;
  guint64 from, to;

  if (!spdl_sound_begin (self->sound, target, &input, error))
    return NULL;
  spdl_sound_get_needed (self->sound, &from, &to);
  if (spdl_sound_is_same (self->sound) && from < to)
    result = slice (self, item, from, to - from);
  *caps = spdl_sound_get_caps (self->sound);
  if (result)
    return result;
  spdl_sound_write (self->sound, 0, &block, &reason);
  if (!reason)
    return spdl_sound_end (self->sound, caps, error);
  g_propagate_error (error, reason);
  return NULL;
}

/* All else */

static GstBuffer *
decode_track (SpdlAudio *self, const SpdlAudioTarget *target, gboolean keep,
    GstCaps **caps, GError **error)
{
  gboolean has_begun;
  GError *reason = NULL;
  GstBuffer *result = NULL;

  if (spdl_voices_decode (self->voices, &self->track, target, self->sound,
          &has_begun, &reason) ||
      (keep && has_begun))
    result = spdl_sound_end (self->sound, caps, reason ? NULL : &reason);
  if (reason)
    g_propagate_error (error, reason);
  return result;
}

GstBuffer *
spdl_audio_decode (SpdlAudio *self, const SpdlAudioTarget *target,
    gboolean keep, GstBuffer *item, GstCaps **caps, GError **error)
{
  const gchar *name = self->is_wav ? "WAV" : self->track.name;
  const gchar *damage = self->is_wav ? self->wav.damage : self->track.damage;
  GstBuffer *result = NULL;
  GError *reason = NULL;

  if (self->error) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return NULL;
  }
  if (target->format == GST_AUDIO_FORMAT_UNKNOWN) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It is sound (%s), but downstream takes none in " SPDL_AUDIO_FORMATS,
        name);
    return NULL;
  }
  if (damage && !keep) {
    set_damage (name, damage, error);
    return NULL;
  }
  result = self->is_wav ? decode_wav (self, target, item, caps, &reason)
                        : decode_track (self, target, keep, caps, &reason);
  if (damage && (result || !reason)) {
    g_clear_error (&reason);
    set_damage (name, damage, error);
  } else if (reason) {
    g_propagate_error (error, reason);
  }
  return result;
}
