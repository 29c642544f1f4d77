/* gst-spdl: fuzz target of audio files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/audio/audio.h"
#include "plugins/codec/audio/wav.h"
#include "plugins/common/bytes.h"
#include "tests/fuzz/fuzz.h"

#define PAGE_HEADER 27

/* Limits an input to milliseconds. */
#define MAX_RATE 200000

static void
check (const SpdlWav *wav, gsize size)
{
  const guint width = gst_audio_format_get_info (wav->format)->width;
  const gsize moment = (gsize) width / 8 * wav->n_channels;

  g_assert_cmpuint (wav->n_channels, >=, 1);
  g_assert_cmpuint (wav->n_channels, <=, SPDL_MAX_CHANNELS);
  g_assert_cmpuint (wav->at, <=, size);
  g_assert_cmpuint (wav->n, <=, (size - wav->at) / moment);
}

/* @flags: 8: the window is within the file, not at its beginning */
static SpdlAudioConfig
take_target (FuzzInput *settings, guint8 *flags)
{
  static const GstAudioFormat formats[] = { GST_AUDIO_FORMAT_F32,
    GST_AUDIO_FORMAT_S16, GST_AUDIO_FORMAT_S32, GST_AUDIO_FORMAT_F64,
    GST_AUDIO_FORMAT_U8, GST_AUDIO_FORMAT_UNKNOWN };
  static const guint rates[] = { 0, 8000, 16000, 44100, 48000, 0, 96000, 11 };
  const guint8 kind = fuzz_take (settings), window = fuzz_take (settings);
  guint64 times;

  *flags = fuzz_take (settings);
  times = *flags & 8 ? 200 : 1;
  return (SpdlAudioConfig){
    .format = formats[kind % G_N_ELEMENTS (formats)],
    .rate = rates[kind >> 5],
    .channels = (kind >> 3 & 3) % 3 * (1 + (window & 1) * 3),
    .offset = (window & 0x8e) == 0x0e ? GST_CLOCK_TIME_NONE
                                      : (window >> 1 & 7) * times * 30011,
    .duration = window & 0x80 ? GST_CLOCK_TIME_NONE
                              : (window >> 4 & 7) * MIN (times, 20) * 300017,
  };
}

/* Returns the result, or NULL. */
static GstBuffer *
decode (SpdlAudio *audio, const SpdlAudioConfig *config, guint8 flags,
    const guint8 *data, gsize size)
{
  static const guint64 key[] = { 1, 2, 3 };
  GstBuffer *item = gst_buffer_new_memdup (data, size), *result = NULL;
  SpdlAudioConfig own = *config;
  GError *error = NULL;
  GstCaps *caps = NULL;
  GstAudioInfo info;
  GstMapInfo map;

  gst_buffer_map (item, &map, GST_MAP_READ);
  if (spdl_audio_look (audio, map.data, map.size, flags >> 1 & 1) ||
      spdl_audio_search (audio, map.data, map.size)) {
    result = spdl_audio_decode (
        audio, &own, key, flags & 1, item, NULL, &caps, &error);
    if (!result || error)
      fuzz_check_error (error);
  }
  gst_buffer_unmap (item, &map);
  if (result) {
    g_assert_true (gst_audio_info_from_caps (&info, caps));
    g_assert_cmpuint (gst_buffer_get_size (result), >, 0);
    g_assert_cmpuint (gst_buffer_get_size (result) % info.bpf, ==, 0);
  }
  g_clear_error (&error);
  gst_buffer_unref (item);
  return result;
}

/* Checks that a file gives the same result after any other one. */
static void
compare (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map;

  g_assert_true (!a == !b);
  if (!a)
    return;
  g_assert_cmpuint (gst_buffer_get_size (a), ==, gst_buffer_get_size (b));
  gst_buffer_map (a, &map, GST_MAP_READ);
  g_assert_true (gst_buffer_memcmp (b, 0, map.data, map.size) == 0);
  gst_buffer_unmap (a, &map);
}

static guint32
crc_of (const guint8 *p, gsize n)
{
  guint32 crc = 0;

  for (gsize i = 0; i < n; i++) {
    crc ^= (guint32) p[i] << 24;
    for (guint bit = 0; bit < 8; bit++)
      crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
  }
  return crc;
}

/* Recomputes the checksums of Ogg pages, which a fuzzer does not find. */
static void
correct_checksums (guint8 *data, gsize size)
{
  gsize at = 0;

  while (size - at >= PAGE_HEADER && memcmp (data + at, "OggS", 4) == 0) {
    gsize length = PAGE_HEADER + data[at + 26];

    if (length > size - at)
      return;
    for (guint i = 0; i < data[at + 26]; i++)
      length += data[at + PAGE_HEADER + i];
    if (length > size - at)
      return;
    memset (data + at + 22, 0, 4);
    spdl_write_32_le (data + at + 22, crc_of (data + at, length));
    at += length;
  }
}

/* Returns whether the result is too large for this target. */
static gboolean
is_large (const SpdlAudioConfig *config, const guint8 *data, gsize size)
{
  SpdlWav wav;

  if (!spdl_wav_is_wav (data, size) || !spdl_wav_read (&wav, data, size, NULL))
    return FALSE;
  check (&wav, size);
  return config->rate > 0 &&
         (wav.rate > MAX_RATE || wav.n * config->rate / wav.rate > MAX_RATE);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  guint8 flags;
  const SpdlAudioConfig config = take_target (&input, &flags);
  g_autofree guint8 *copy = g_malloc (MAX (input.size, 1));
  GstBuffer *first, *second;
  SpdlAudio *audio;

  if (input.size == 0)
    return 0;
  memcpy (copy, input.data, input.size);
  if (flags & 4)
    correct_checksums (copy, input.size);
  if (is_large (&config, copy, input.size))
    return 0;
  audio = spdl_audio_new ();
  first = decode (audio, &config, flags, copy, input.size);
  second = decode (audio, &config, flags, copy, input.size);
  compare (first, second);
  gst_clear_buffer (&first);
  gst_clear_buffer (&second);
  spdl_audio_free (audio);
  return 0;
}
