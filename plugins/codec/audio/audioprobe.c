/* gst-spdl: detection of audio files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audioprobe.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* Signatures of formats, with libavformat's names. */
static const struct {
  const gchar *bytes;
  gsize size, at;
  const gchar *demuxer, *name;
  SpdlAudioProbe probe;
} formats[] = {
  { "fLaC", 4, 0, "flac", "FLAC", SPDL_AUDIO_SURE },
  { "OggS", 4, 0, "ogg", "Ogg file", SPDL_AUDIO_SURE },
  { "WAVE", 4, 8, "wav", "WAV", SPDL_AUDIO_SURE },
  { "AIFF", 4, 8, "aiff", "AIFF", SPDL_AUDIO_SURE },
  { "AIFC", 4, 8, "aiff", "AIFF", SPDL_AUDIO_SURE },
  { "caff", 4, 0, "caf", "CAF", SPDL_AUDIO_SURE },
  { "wvpk", 4, 0, "wv", "WavPack", SPDL_AUDIO_SURE },
  { "#!AMR", 5, 0, "amr", "AMR", SPDL_AUDIO_SURE },
  { ".snd", 4, 0, "au", "AU", SPDL_AUDIO_SURE },
  { "\x1a\x45\xdf\xa3", 4, 0, "matroska", "Matroska file", SPDL_AUDIO_MIXED },
  { "\x30\x26\xb2\x75\x8e\x66\xcf\x11", 8, 0, "asf", "WMA", SPDL_AUDIO_MIXED },
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
has_sync (const guint8 *p, gsize size)
{
  return size >= 4 && ((p[0] == 0xff && (p[1] & 0xe0) == 0xe0) ||
                          (p[0] == 0x0b && p[1] == 0x77));
}

SpdlAudioProbe
spdl_audio_probe (const guint8 *data, gsize size, SpdlAudioFile *file)
{
  const gsize at = skip_tags (data, size);

  data += at;
  size -= at;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (size >= formats[i].at + formats[i].size &&
        memcmp (data + formats[i].at, formats[i].bytes, formats[i].size) == 0) {
      *file =
          (SpdlAudioFile){ formats[i].name, formats[i].demuxer, data, size };
      return formats[i].probe;
    }
  if (size >= 12 && memcmp (data + 4, "ftyp", 4) == 0 &&
      !is_picture (data + 8)) {
    *file = (SpdlAudioFile){ "MP4", "mov", data, size };
    return SPDL_AUDIO_MIXED;
  }
  if (is_adts (data, size) || at > 0) {
    const gboolean aac = is_adts (data, size);

    *file =
        (SpdlAudioFile){ aac ? "AAC" : "MP3", aac ? "aac" : "mp3", data, size };
    return SPDL_AUDIO_SURE;
  }
  return has_sync (data, size) ? SPDL_AUDIO_MAYBE : SPDL_AUDIO_NONE;
}

/* MP4 */

typedef struct {
  const guint8 *data; /* NULL: no such box */
  gsize size;
} Box;

#define TYPE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (d))

/* Takes the next box off @in. Returns FALSE if there is none. */
static gboolean
take_box (Box *in, guint32 *type, Box *box)
{
  guint64 size;
  gsize header = 8;

  if (in->size < 8)
    return FALSE;
  size = spdl_read_32_be (in->data);
  *type = spdl_read_32_be (in->data + 4);
  if (size == 1 && in->size >= 16) {
    size = spdl_read_64_be (in->data + 8);
    header = 16;
  } else if (size == 0) {
    size = in->size;
  }
  if (size < header || size > in->size)
    return FALSE;
  *box = (Box){ in->data + header, size - header };
  in->data += size;
  in->size -= size;
  return TRUE;
}

static Box
find_box (Box in, guint32 wanted)
{
  guint32 type;
  Box box;

  while (take_box (&in, &type, &box))
    if (type == wanted)
      return box;
  return (Box){ NULL, 0 };
}

gboolean
spdl_audio_probe_mp4_video (const guint8 *data, gsize size)
{
  gboolean has_sound = FALSE, has_video = FALSE;
  Box moov = find_box ((Box){ data, size }, TYPE ('m', 'o', 'o', 'v')), track;
  guint32 type;

  while (take_box (&moov, &type, &track)) {
    const Box media = find_box (track, TYPE ('m', 'd', 'i', 'a'));
    const Box handler = find_box (media, TYPE ('h', 'd', 'l', 'r'));

    if (handler.size < 12)
      continue;
    has_sound |= memcmp (handler.data + 8, "soun", 4) == 0;
    has_video |= memcmp (handler.data + 8, "vide", 4) == 0;
  }
  return has_video || !has_sound;
}
