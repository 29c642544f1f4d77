/* gst-spdl: WAV parser
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/wav.h"

#include <string.h>

#include "plugins/common/bytes.h"

#define TAG_PCM 1
#define TAG_FLOAT 3
#define TAG_EXTENSIBLE 0xfffe
/* Size field of a header that was written before the size was known. */
#define UNKNOWN 0xffffffff
/* Number of channel mask bits that are mapped to GStreamer positions. */
#define N_POSITIONS 11

typedef struct {
  const guint8 *data;
  gsize size;
  guint64
      long_size; /* size of the samples from the ds64 chunk; 0: no such chunk */
  gboolean streamed; /* the size of the file was unknown when it was written */
  gboolean has_format;
  guint block; /* bytes per frame */
} Reader;

gboolean
spdl_wav_is_wav (const guint8 *data, gsize size)
{
  return size >= 12 &&
         (memcmp (data, "RIFF", 4) == 0 || memcmp (data, "RF64", 4) == 0 ||
             memcmp (data, "BW64", 4) == 0) &&
         memcmp (data + 8, "WAVE", 4) == 0;
}

static gboolean
set_error (GError **error, const gchar *what)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt WAV: %s", what);
  return FALSE;
}

static GstAudioFormat
find_format (guint tag, guint bits)
{
  if (tag == TAG_FLOAT)
    return bits == 32   ? GST_AUDIO_FORMAT_F32LE
           : bits == 64 ? GST_AUDIO_FORMAT_F64LE
                        : GST_AUDIO_FORMAT_UNKNOWN;
  switch (tag == TAG_PCM ? bits : 0) {
    case 8:
      return GST_AUDIO_FORMAT_U8;
    case 16:
      return GST_AUDIO_FORMAT_S16LE;
    case 24:
      return GST_AUDIO_FORMAT_S24LE;
    case 32:
      return GST_AUDIO_FORMAT_S32LE;
    default:
      return GST_AUDIO_FORMAT_UNKNOWN;
  }
}

/* Sets the channel positions from the mask. Its bits are in the order of
 * GStreamer's enumeration, which has another LFE channel in between. */
static void
set_positions (SpdlWav *self, guint32 mask)
{
  static const GstAudioChannelPosition positions[N_POSITIONS] = {
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER, GST_AUDIO_CHANNEL_POSITION_LFE1,
    GST_AUDIO_CHANNEL_POSITION_REAR_LEFT, GST_AUDIO_CHANNEL_POSITION_REAR_RIGHT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER,
    GST_AUDIO_CHANNEL_POSITION_REAR_CENTER,
    GST_AUDIO_CHANNEL_POSITION_SIDE_LEFT, GST_AUDIO_CHANNEL_POSITION_SIDE_RIGHT
  };
  guint n = 0;

  for (guint i = 0; i < N_POSITIONS && n < self->n_channels; i++)
    if (mask & 1u << i)
      self->positions[n++] = positions[i];
  self->has_positions = n == self->n_channels && mask >> N_POSITIONS == 0;
  if (self->n_channels == 1)
    self->positions[0] = GST_AUDIO_CHANNEL_POSITION_MONO;
}

static gboolean
read_format (
    SpdlWav *self, Reader *reader, const guint8 *at, gsize size, GError **error)
{
  guint tag, bits;

  if (size < 16)
    return set_error (error, "the format chunk is cut off");
  tag = spdl_read_16_le (at);
  self->n_channels = spdl_read_16_le (at + 2);
  self->rate = spdl_read_32_le (at + 4);
  reader->block = spdl_read_16_le (at + 12);
  bits = spdl_read_16_le (at + 14);
  if (tag == TAG_EXTENSIBLE && size >= 40) {
    tag = spdl_read_16_le (at + 24);
    set_positions (self, spdl_read_32_le (at + 20));
  }
  /* Samples of 12 or 20 bits are left-aligned in their bytes. */
  self->format = find_format (tag, (bits + 7) / 8 * 8);
  if (self->format == GST_AUDIO_FORMAT_UNKNOWN) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND,
        "WAV has the unsupported format 0x%04x with %u bits", tag, bits);
    return FALSE;
  }
  if (self->n_channels < 1 || self->n_channels > SPDL_MAX_CHANNELS ||
      self->rate < 1 || self->rate > G_MAXINT ||
      reader->block != (bits + 7) / 8 * self->n_channels)
    return set_error (error, "the format chunk contradicts itself");
  reader->has_format = TRUE;
  return TRUE;
}

static gboolean
read_data (
    SpdlWav *self, const Reader *reader, gsize at, guint64 size, GError **error)
{
  const gsize left = reader->size - at;
  const gboolean unknown = !reader->long_size &&
                           (size == UNKNOWN || (size == 0 && reader->streamed));

  if (!reader->has_format)
    return set_error (error, "the samples come before the format");
  if (reader->long_size && size == UNKNOWN)
    size = reader->long_size;
  if (unknown)
    size = left;
  else if (size > left)
    self->corruption = "the file is cut off";
  self->at = at;
  self->n = MIN (size, left) / reader->block;
  return TRUE;
}

gboolean
spdl_wav_read (SpdlWav *self, const guint8 *data, gsize size, GError **error)
{
  Reader reader = { .data = data, .size = size };
  guint32 file_size;
  gsize at = 12;

  memset (self, 0, sizeof *self);
  if (!spdl_wav_is_wav (data, size))
    return set_error (error, "the file does not start with the WAV signature");
  file_size = spdl_read_32_le (data + 4);
  reader.streamed = file_size == 0 || file_size == UNKNOWN;
  while (size - at >= 8) {
    const guint8 *chunk = data + at;
    const guint32 length = spdl_read_32_le (chunk + 4);
    const gsize left = size - at - 8;

    if (memcmp (chunk, "data", 4) == 0)
      return read_data (self, &reader, at + 8, length, error);
    if (length > left)
      break;
    if (memcmp (chunk, "fmt ", 4) == 0 &&
        !read_format (self, &reader, chunk + 8, length, error))
      return FALSE;
    if (memcmp (chunk, "ds64", 4) == 0 && length >= 16)
      reader.long_size = spdl_read_32_le (chunk + 16) |
                         (guint64) spdl_read_32_le (chunk + 20) << 32;
    at += 8 + (gsize) length + (length & 1 && length < left);
  }
  return set_error (error, "the file is cut off before the samples");
}
