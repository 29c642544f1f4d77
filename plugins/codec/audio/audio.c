/* gst-spdl: decoder of audio items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audio.h"

#include <string.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/codec/audio/wav.h"
#include "plugins/codec/common/containers.h"
#include "plugins/common/bytes.h"

/* Formats */

typedef enum {
  SPDL_AUDIO_NONE,
  SPDL_AUDIO_SURE,  /* audio */
  SPDL_AUDIO_MIXED, /* audio, or a video with audio */
  SPDL_AUDIO_VIDEO, /* nearly always a video, perhaps with audio */
  SPDL_AUDIO_MAYBE, /* MPEG audio, or another file with a similar beginning */
} SpdlAudioProbe;

/* Signatures of formats, with libavformat's names. */
static const struct {
  const gchar *bytes;
  gsize size, at;
  const gchar *demuxer, *name;
  SpdlAudioProbe probe;
} formats[] = {
  { "fLaC", 4, 0, "flac", "FLAC", SPDL_AUDIO_SURE },
  { "OggS", 4, 0, "ogg", "Ogg file", SPDL_AUDIO_MIXED },
  { "WAVE", 4, 8, "wav", "WAV", SPDL_AUDIO_SURE },
  { "AIFF", 4, 8, "aiff", "AIFF", SPDL_AUDIO_SURE },
  { "AIFC", 4, 8, "aiff", "AIFF", SPDL_AUDIO_SURE },
  { "caff", 4, 0, "caf", "CAF", SPDL_AUDIO_SURE },
  { "wvpk", 4, 0, "wv", "WavPack", SPDL_AUDIO_SURE },
  { "#!AMR", 5, 0, "amr", "AMR", SPDL_AUDIO_SURE },
  { ".snd", 4, 0, "au", "AU", SPDL_AUDIO_SURE },
  { "\x1a\x45\xdf\xa3", 4, 0, "matroska", "Matroska file", SPDL_AUDIO_MIXED },
  { "\x30\x26\xb2\x75\x8e\x66\xcf\x11", 8, 0, "asf", "WMA", SPDL_AUDIO_MIXED },
  { "AVI ", 4, 8, "avi", "AVI", SPDL_AUDIO_VIDEO },
  { "FLV\x01", 4, 0, "flv", "FLV", SPDL_AUDIO_VIDEO },
};

/* Brands of still images in the ISO base media format. */
static gboolean
is_picture (const guint8 *brand)
{
  static const gchar brands[][5] = { "avif", "avis", "heic", "heix", "heif",
    "mif1", "msf1" };

  for (guint i = 0; i < G_N_ELEMENTS (brands); i++)
    if (memcmp (brand, brands[i], 4) == 0)
      return TRUE;
  return FALSE;
}

/* Returns the offset after ID3v2 tags. */
static gsize
skip_tags (const guint8 *data, gsize size)
{
  gsize at = 0;

  while (size - at >= 10 && memcmp (data + at, "ID3", 3) == 0) {
    const guint8 *tag = data + at;
    const gsize length =
        10 +
        ((gsize) (tag[6] & 0x7f) << 21 | (gsize) (tag[7] & 0x7f) << 14 |
            (gsize) (tag[8] & 0x7f) << 7 | (gsize) (tag[9] & 0x7f)) +
        (tag[5] & 0x10 ? 10 : 0);

    at += MIN (length, size - at);
  }
  return at;
}

/* Returns whether an ADTS frame is followed by another one or by the end of the
 * data. */
static gboolean
is_adts (const guint8 *p, gsize size)
{
  gsize length;

  if (size < 7 || p[0] != 0xff || (p[1] & 0xf6) != 0xf0)
    return FALSE;
  length = (gsize) (p[3] & 3) << 11 | p[4] << 3 | p[5] >> 5;
  return length == size ||
         (length >= 7 && size - MIN (length, size) >= 2 && p[length] == 0xff &&
             (p[length + 1] & 0xf6) == 0xf0);
}

static gboolean
is_transport_stream (const guint8 *p, gsize size)
{
  enum { PACKET = 188, N_PACKETS = 3 };
  gsize n = 0;

  while (n < N_PACKETS && n * PACKET < size && p[n * PACKET] == 0x47)
    n++;
  return n == N_PACKETS;
}

static gboolean
has_sync (const guint8 *p, gsize size)
{
  return size >= 4 && ((p[0] == 0xff && (p[1] & 0xe0) == 0xe0) ||
                          (p[0] == 0x0b && p[1] == 0x77));
}

/* Checks the first bytes after ID3 tags. Sets @file unless the result is NONE
 * or MAYBE. */
static SpdlAudioProbe
spdl_audio_probe (const guint8 *data, gsize size, SpdlMediaFile *file)
{
  const gsize at = skip_tags (data, size);

  data += at;
  size -= at;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (size >= formats[i].at + formats[i].size &&
        memcmp (data + formats[i].at, formats[i].bytes, formats[i].size) == 0) {
      *file =
          (SpdlMediaFile){ formats[i].name, formats[i].demuxer, data, size };
      return formats[i].probe;
    }
  if (size >= 12 && memcmp (data + 4, "ftyp", 4) == 0 &&
      !is_picture (data + 8)) {
    *file = (SpdlMediaFile){ "MP4", "mov", data, size };
    return SPDL_AUDIO_MIXED;
  }
  if (at == 0 && is_transport_stream (data, size)) {
    *file = (SpdlMediaFile){ "MPEG-TS", "mpegts", data, size };
    return SPDL_AUDIO_VIDEO;
  }
  if (is_adts (data, size) || at > 0) {
    const gboolean aac = is_adts (data, size);

    *file =
        (SpdlMediaFile){ aac ? "AAC" : "MP3", aac ? "aac" : "mp3", data, size };
    return SPDL_AUDIO_SURE;
  }
  return has_sync (data, size) ? SPDL_AUDIO_MAYBE : SPDL_AUDIO_NONE;
}

/* MP4 */

/* Returns whether an MP4 has a video track, or does not list its tracks. */
static gboolean
spdl_audio_probe_mp4_video (const guint8 *data, gsize size)
{
  gboolean has_sound = FALSE, has_video = FALSE;
  SpdlMp4Box file = { data, size }, movie, track, box;
  gchar type[4];

  if (!spdl_mp4_box_find (&file, "moov", &movie))
    return TRUE;
  while (spdl_mp4_box_next (&movie, &track, type)) {
    if (!spdl_mp4_box_find (&track, "mdia", &box) ||
        !spdl_mp4_box_find (&box, "hdlr", &box) || box.size < 12)
      continue;
    has_sound |= memcmp (box.data + 8, "soun", 4) == 0;
    has_video |= memcmp (box.data + 8, "vide", 4) == 0;
  }
  return has_video || !has_sound;
}

/* Decoder */

struct _SpdlAudio {
  const SpdlAudioFuncs *funcs; /* NULL: plugin not loaded yet */
  SpdlAudioDecoder *decoder;   /* NULL: not created yet */
  GstAudioInfo info;           /* of the previous result, with its caps */
  GstCaps *caps;

  /* The current file. */
  const guint8 *data;
  gboolean is_pcm; /* WAV whose samples need no decoder */
  SpdlWav wav;
  SpdlMediaFile file; /* set if not is_pcm */
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
  if (!self->funcs) {
    const SpdlFfmpegFuncs *funcs = spdl_ffmpeg_get_funcs (error);

    self->funcs = funcs ? funcs->audio : NULL;
  }
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
  if (g_str_equal (self->file.demuxer, "ogg"))
    return spdl_ogg_has_video (self->file.data, self->file.size);
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
    case SPDL_AUDIO_VIDEO:
      return !takes_video;
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
    GCancellable *cancellable, GstAudioInfo *info, GError **error)
{
  const SpdlWav *wav = &self->wav;
  const SpdlAudioPcm pcm = { wav->format, wav->rate, wav->n_channels,
    wav->has_positions ? wav->positions : NULL, self->data + wav->at, wav->n };
  GstBuffer *result = slice_wav (self, config, item, info);

  if (!result && load_plugin (self, error))
    result = self->funcs->convert (
        self->decoder, &pcm, config, cancellable, info, error);
  return result;
}

static GstBuffer *
decode_with_plugin (SpdlAudio *self, SpdlAudioConfig *config,
    const guint64 key[3], gboolean keep, GstBuffer *item,
    GCancellable *cancellable, GstAudioInfo *info, GError **error)
{
  const gchar *corruption = self->is_pcm ? self->wav.corruption : NULL;
  GstBuffer *result = NULL;

  if (!self->is_pcm)
    return load_plugin (self, error)
               ? self->funcs->decode (self->decoder, &self->file, config, key,
                     keep, cancellable, info, error)
               : NULL;
  spdl_audio_config_draw (config, key, self->wav.rate, self->wav.n);
  if (!corruption || keep)
    result = decode_pcm (
        self, config, item, cancellable, info, corruption ? NULL : error);
  if (corruption)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt WAV: %s", corruption);
  return result;
}

GstBuffer *
spdl_audio_decode (SpdlAudio *self, SpdlAudioConfig *config,
    const guint64 key[3], gboolean keep, GstBuffer *item,
    GCancellable *cancellable, GstCaps **caps, GError **error)
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
  result = decode_with_plugin (
      self, config, key, keep, item, cancellable, &info, error);
  if (result)
    *caps = get_caps (self, &info);
  return result;
}
