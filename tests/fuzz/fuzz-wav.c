/* gst-spdl: fuzzes WAV files on their way into results
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fuzz.h"
#include "spdlaudio.h"
#include "spdlwav.h"

/* An input is to take milliseconds. */
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

static SpdlAudioTarget
take_target (FuzzInput *settings)
{
  static const GstAudioFormat formats[] = { GST_AUDIO_FORMAT_F32,
    GST_AUDIO_FORMAT_S16, GST_AUDIO_FORMAT_S32, GST_AUDIO_FORMAT_F64,
    GST_AUDIO_FORMAT_U8, GST_AUDIO_FORMAT_UNKNOWN };
  static const guint rates[] = { 0, 8000, 16000, 44100, 48000, 0, 96000, 11 };
  const guint8 kind = fuzz_take (settings), window = fuzz_take (settings);

  return (SpdlAudioTarget){
    .format = formats[kind % G_N_ELEMENTS (formats)],
    .rate = rates[kind >> 5],
    .channels = (kind >> 3 & 3) % 3 * (1 + (window & 1) * 3),
    .offset = (window >> 1 & 7) * 30011,
    .duration =
        window & 0x80 ? GST_CLOCK_TIME_NONE : (window >> 4 & 7) * 300017,
  };
}

static void
decode (SpdlAudio *audio, const SpdlAudioTarget *target, gboolean keep,
    const guint8 *data, gsize size)
{
  GstBuffer *item = gst_buffer_new_memdup (data, size), *result;
  GError *error = NULL;
  GstCaps *caps = NULL;
  GstAudioInfo info;
  GstMapInfo map;

  gst_buffer_map (item, &map, GST_MAP_READ);
  g_assert_true (spdl_audio_look (audio, map.data, map.size));
  result = spdl_audio_decode (audio, target, keep, item, &caps, &error);
  gst_buffer_unmap (item, &map);
  if (!result || error)
    fuzz_check_error (error);
  if (result) {
    g_assert_true (gst_audio_info_from_caps (&info, caps));
    g_assert_cmpuint (gst_buffer_get_size (result), >, 0);
    g_assert_cmpuint (gst_buffer_get_size (result) % info.bpf, ==, 0);
    gst_buffer_unref (result);
  }
  g_clear_error (&error);
  gst_buffer_unref (item);
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
  const SpdlAudioTarget target = take_target (&input);
  const guint8 keep = fuzz_take (&input);
  SpdlAudio *audio;
  SpdlWav wav;

  if (!spdl_wav_is_wav (input.data, input.size))
    return 0;
  if (spdl_wav_read (&wav, input.data, input.size, NULL)) {
    check (&wav, input.size);
    /* What becomes of it is not to be millions of samples. */
    if (target.rate > 0 &&
        (wav.rate > MAX_RATE || wav.n * target.rate / wav.rate > MAX_RATE))
      return 0;
  }
  audio = spdl_audio_new ();
  decode (audio, &target, keep & 1, input.data, input.size);
  decode (audio, &target, keep & 1, input.data, input.size);
  spdl_audio_free (audio);
  return 0;
}
