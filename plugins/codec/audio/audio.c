/* gst-spdl: decoder of audio items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audio.h"

#include "plugins/codec/audio/audioprobe.h"
#include "plugins/codec/audio/wav.h"

struct _SpdlAudio {
  const SpdlAudioFuncs *funcs; /* NULL: plugin not loaded yet */
  SpdlAudioDecoder *decoder;   /* NULL: not created yet */
  GstAudioInfo info;           /* of the previous result, with its caps */
  GstCaps *caps;

  /* The current file. */
  const guint8 *data;
  gboolean is_pcm; /* WAV whose samples need no decoder */
  SpdlWav wav;
  SpdlAudioFile file; /* set if not is_pcm */
  GError *error;      /* from reading the WAV header */
};

SpdlAudio *
spdl_audio_new (void)
{
  return g_new0 (SpdlAudio, 1);
}

void
spdl_audio_free (SpdlAudio *self)
{
  if (self->decoder)
    self->funcs->destroy (self->decoder);
  gst_clear_caps (&self->caps);
  g_clear_error (&self->error);
  g_free (self);
}

/* Loads the plugin with FFmpeg's libraries. */
static gboolean
load_plugin (SpdlAudio *self, GError **error)
{
  if (!self->funcs)
    self->funcs = spdl_audio_get_funcs (error);
  if (self->funcs && !self->decoder)
    self->decoder = self->funcs->create ();
  return self->funcs != NULL;
}

/* Detects WAV files with PCM samples, which need no decoder. FFmpeg decodes
 * other WAV files. */
static gboolean
look_at_wav (SpdlAudio *self, const guint8 *data, gsize size)
{
  self->is_pcm = spdl_wav_is_wav (data, size);
  if (self->is_pcm && !spdl_wav_read (&self->wav, data, size, &self->error) &&
      g_error_matches (
          self->error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND)) {
    g_clear_error (&self->error);
    self->is_pcm = FALSE;
  }
  return self->is_pcm;
}

static gboolean
has_video (SpdlAudio *self)
{
  if (g_str_equal (self->file.demuxer, "mov"))
    return spdl_audio_probe_mp4_video (self->file.data, self->file.size);
  return !load_plugin (self, NULL) ||
         self->funcs->has_video (self->decoder, &self->file);
}

gboolean
spdl_audio_look (
    SpdlAudio *self, const guint8 *data, gsize size, gboolean takes_video)
{
  self->data = data;
  g_clear_error (&self->error);
  if (look_at_wav (self, data, size))
    return TRUE;
  switch (spdl_audio_probe (data, size, &self->file)) {
    case SPDL_AUDIO_SURE:
      return TRUE;
    case SPDL_AUDIO_MIXED:
      return !takes_video || !has_video (self);
    case SPDL_AUDIO_MAYBE:
      return spdl_audio_search (self, data, size);
    default:
      return FALSE;
  }
}

gboolean
spdl_audio_search (SpdlAudio *self, const guint8 *data, gsize size)
{
  return load_plugin (self, NULL) &&
         self->funcs->probe (data, size, &self->file);
}

/* Unchanged caps are reused, which avoids a renegotiation. */
static GstCaps *
get_caps (SpdlAudio *self, const GstAudioInfo *info)
{
  if (!self->caps || !gst_audio_info_is_equal (info, &self->info)) {
    self->info = *info;
    gst_clear_caps (&self->caps);
    self->caps = gst_audio_info_to_caps (info);
  }
  return self->caps;
}

/* Returns the window as a sub-buffer of the file, or NULL if the samples need a
 * conversion or are unaligned. */
static GstBuffer *
slice_wav (SpdlAudio *self, const SpdlAudioConfig *config, GstBuffer *item,
    GstAudioInfo *info)
{
  const SpdlWav *wav = &self->wav;
  const gsize size = gst_audio_format_get_info (wav->format)->width / 8;
  const gsize frame = size * wav->n_channels;
  guint64 from, to;
  gsize at;

  if (config->format != wav->format ||
      (config->rate && config->rate != wav->rate) ||
      (config->channels && config->channels != wav->n_channels))
    return NULL;
  spdl_audio_config_get_window (config, wav->rate, &from, &to);
  to = MIN (to, wav->n);
  at = wav->at + from * frame;
  if (from >= to ||
      (size != 1 && GPOINTER_TO_SIZE (self->data + at) % size != 0))
    return NULL;
  spdl_audio_config_set_info (config, wav->rate, wav->n_channels,
      wav->has_positions ? wav->positions : NULL, info);
  return gst_buffer_copy_region (
      item, GST_BUFFER_COPY_MEMORY, at, (to - from) * frame);
}

static GstBuffer *
decode_pcm (SpdlAudio *self, const SpdlAudioConfig *config, GstBuffer *item,
    GstAudioInfo *info, GError **error)
{
  const SpdlWav *wav = &self->wav;
  const SpdlAudioPcm pcm = { wav->format, wav->rate, wav->n_channels,
    wav->has_positions ? wav->positions : NULL, self->data + wav->at, wav->n };
  GstBuffer *result = slice_wav (self, config, item, info);

  if (!result && load_plugin (self, error))
    result = self->funcs->convert (self->decoder, &pcm, config, info, error);
  return result;
}

static GstBuffer *
decode_with_plugin (SpdlAudio *self, const SpdlAudioConfig *config,
    gboolean keep, GstBuffer *item, GstAudioInfo *info, GError **error)
{
  const gchar *corruption = self->is_pcm ? self->wav.corruption : NULL;
  GstBuffer *result = NULL;

  if (!self->is_pcm)
    return load_plugin (self, error)
               ? self->funcs->decode (
                     self->decoder, &self->file, config, keep, info, error)
               : NULL;
  if (!corruption || keep)
    result = decode_pcm (self, config, item, info, corruption ? NULL : error);
  if (corruption)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt WAV: %s", corruption);
  return result;
}

GstBuffer *
spdl_audio_decode (SpdlAudio *self, const SpdlAudioConfig *config,
    gboolean keep, GstBuffer *item, GstCaps **caps, GError **error)
{
  GstAudioInfo info;
  GstBuffer *result;

  if (self->error) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return NULL;
  }
  if (config->format == GST_AUDIO_FORMAT_UNKNOWN) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "File is audio (%s), but downstream does not accept audio "
        "in " SPDL_AUDIO_FORMATS,
        self->is_pcm ? "WAV" : self->file.name);
    return NULL;
  }
  result = decode_with_plugin (self, config, keep, item, &info, error);
  if (result)
    *caps = get_caps (self, &info);
  return result;
}
