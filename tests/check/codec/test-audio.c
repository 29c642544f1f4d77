/* gst-spdl: tests of spdldecode with PCM audio, and of a flush
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/audio/audio.h>
#include <string.h>

#include "tests/check/support/files.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define HEADER 44

static void
put_32 (GByteArray *file, guint32 value)
{
  value = GUINT32_TO_LE (value);
  g_byte_array_append (file, (const guint8 *) &value, 4);
}

static void
put_16 (GByteArray *file, guint16 value)
{
  value = GUINT16_TO_LE (value);
  g_byte_array_append (file, (const guint8 *) &value, 2);
}

static void
put_text (GByteArray *file, const gchar *text)
{
  g_byte_array_append (file, (const guint8 *) text, strlen (text));
}

/* Returns a WAV file with a ramp of @n samples of 16 bits. @claimed is the size
 * of the samples in the header. @chunk: (nullable): a chunk before the
 * samples */
static GBytes *
make_wav (
    guint channels, guint rate, guint n, guint32 claimed, const gchar *chunk)
{
  GByteArray *file = g_byte_array_new ();

  put_text (file, "RIFF");
  put_32 (file, claimed == G_MAXUINT32 ? G_MAXUINT32 : 36 + claimed);
  put_text (file, "WAVEfmt ");
  put_32 (file, 16);
  put_16 (file, 1);
  put_16 (file, channels);
  put_32 (file, rate);
  put_32 (file, rate * channels * 2);
  put_16 (file, channels * 2);
  put_16 (file, 16);
  if (chunk) {
    put_text (file, "LIST");
    put_32 (file, strlen (chunk));
    put_text (file, chunk);
    if (strlen (chunk) % 2)
      g_byte_array_append (file, (const guint8 *) "", 1);
  }
  put_text (file, "data");
  put_32 (file, claimed);
  for (guint i = 0; i < n * channels; i++)
    put_16 (file, i * 7 - 20000);
  return g_byte_array_free_to_bytes (file);
}

static void
push_wav (Rig *rig, guint64 number, GBytes *file)
{
  GstBuffer *item = rig_make_item (number, 0);

  gst_buffer_append_memory (item,
      gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY,
          (gpointer) g_bytes_get_data (file, NULL), g_bytes_get_size (file), 0,
          g_bytes_get_size (file), NULL, NULL));
  gst_pad_push (rig->src, item);
}

/* Checks the S16 samples of result @i. */
static void
assert_ramp (Rig *rig, guint i, guint from, guint n)
{
  GstMapInfo map;

  gst_buffer_map (g_ptr_array_index (rig->buffers, i), &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, n * 2);
  for (guint k = 0; k < n; k++)
    fail_unless_equals_int (
        ((const gint16 *) map.data)[k], (gint16) ((from + k) * 7 - 20000));
  gst_buffer_unmap (g_ptr_array_index (rig->buffers, i), &map);
}

static void
finish (Rig *rig)
{
  rig_push_eos (rig);
  rig_wait_eos (rig);
}

/* Tests that samples of the right format share the memory of the file. */
GST_START_TEST (test_slice)
{
  g_autoptr (GBytes) file = make_wav (2, 8000, 1000, 4000, NULL);
  Rig *rig = rig_new ("spdldecode", "audio-format", "S16LE", "offset",
      (guint64) (GST_SECOND / 80), "duration", (guint64) (GST_SECOND / 16),
      NULL);
  GstMapInfo map;

  rig_start (rig, NULL);
  push_wav (rig, 0, file);
  finish (rig);
  assert_ramp (rig, 0, 200, 1000);
  gst_buffer_map (g_ptr_array_index (rig->buffers, 0), &map, GST_MAP_READ);
  fail_unless (map.data ==
               (const guint8 *) g_bytes_get_data (file, NULL) + HEADER + 400);
  gst_buffer_unmap (g_ptr_array_index (rig->buffers, 0), &map);
  rig_free (rig);
}

GST_END_TEST;

/* Four channels without positions have the same ones, converted or not. */
GST_START_TEST (test_usual_positions)
{
  static const gchar *formats[] = { "S16LE", "F32LE" };
  g_autoptr (GBytes) file = make_wav (4, 8000, 100, 800, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Rig *rig = rig_new ("spdldecode", "audio-format", formats[i], NULL);
    g_autoptr (GstCaps) caps = NULL;
    guint64 mask = 0;

    rig_start (rig, NULL);
    push_wav (rig, 0, file);
    finish (rig);
    caps = gst_pad_get_current_caps (rig->sink);
    fail_unless (gst_structure_get (gst_caps_get_structure (caps, 0),
        "channel-mask", GST_TYPE_BITMASK, &mask, NULL));
    fail_unless_equals_uint64 (mask, gst_audio_channel_get_fallback_mask (4));
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that 16-bit samples at an odd address are copied. */
GST_START_TEST (test_unaligned)
{
  g_autoptr (GBytes) file = make_wav (1, 8000, 100, 200, NULL);
  gsize size;
  const guint8 *data = g_bytes_get_data (file, &size);
  g_autofree guint8 *copy = g_malloc (size + 1);
  Rig *rig = rig_new ("spdldecode", "audio-format", "S16LE", NULL);
  g_autoptr (GBytes) odd = NULL;
  GstMapInfo map;

  memcpy (copy + 1, data, size);
  odd = g_bytes_new_static (copy + 1, size);
  rig_start (rig, NULL);
  push_wav (rig, 0, odd);
  finish (rig);
  gst_buffer_map (g_ptr_array_index (rig->buffers, 0), &map, GST_MAP_READ);
  fail_unless_equals_int (GPOINTER_TO_SIZE (map.data) % 2, 0);
  gst_buffer_unmap (g_ptr_array_index (rig->buffers, 0), &map);
  assert_ramp (rig, 0, 0, 100);
  rig_free (rig);
}

GST_END_TEST;

/* Tests chunks of odd sizes, a data size of 2^32-1 as in streamed files, and a
 * data size beyond the end of the file. */
GST_START_TEST (test_chunks)
{
  g_autoptr (GBytes) odd = make_wav (1, 8000, 100, 200, "abc");
  g_autoptr (GBytes) streamed = make_wav (1, 8000, 100, G_MAXUINT32, NULL);
  g_autoptr (GBytes) cut = make_wav (1, 8000, 100, 400, "abcd");
  Rig *rig =
      rig_new ("spdldecode", "audio-format", "S16LE", "on-corrupt", 0, NULL);

  rig_start (rig, NULL);
  push_wav (rig, 0, odd);
  push_wav (rig, 1, streamed);
  push_wav (rig, 2, cut);
  finish (rig);
  fail_unless_equals_int (rig_count_items (rig), 2);
  assert_ramp (rig, 0, 0, 100);
  assert_ramp (rig, 1, 0, 100);
  rig_free (rig);

  rig = rig_new ("spdldecode", "audio-format", "S16LE", "on-corrupt", 1, NULL);
  rig_start (rig, NULL);
  push_wav (rig, 0, cut);
  finish (rig);
  assert_ramp (rig, 0, 0, 100);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_caps)
{
  g_autoptr (GBytes) file = make_wav (2, 22050, 10, 40, NULL);
  Rig *rig = rig_new ("spdldecode", NULL, NULL);
  g_autoptr (GstCaps) caps = NULL;
  GstAudioInfo info;

  rig_start (rig, "audio/x-wav");
  push_wav (rig, 0, file);
  finish (rig);
  caps = gst_pad_get_current_caps (rig->sink);
  fail_unless (gst_audio_info_from_caps (&info, caps));
  fail_unless_equals_int (info.rate, 22050);
  fail_unless_equals_int (info.channels, 2);
  fail_unless_equals_int (GST_AUDIO_INFO_FORMAT (&info), GST_AUDIO_FORMAT_F32);
  fail_unless_equals_int (info.layout, GST_AUDIO_LAYOUT_INTERLEAVED);
  fail_unless_equals_int (
      gst_buffer_get_size (g_ptr_array_index (rig->buffers, 0)), 80);
  rig_free (rig);
}

GST_END_TEST;

/* Returns noise of more than half an hour. AAC with ADTS headers can be
 * repeated. */
static GBytes *
make_long_aac (void)
{
  gchar *folder = files_make_folder ();
  g_autofree gchar *path = g_build_filename (folder, "noise.aac", NULL);
  g_autofree gchar *line = g_strdup_printf (
      "ffmpeg -v error -nostdin -f lavfi -i anoisesrc=d=10:r=44100 -c:a aac "
      "-b:a 64k %s",
      path);
  g_autofree gchar *data = NULL;
  GByteArray *file = g_byte_array_new ();
  gsize size;
  gint status;

  fail_unless (g_spawn_command_line_sync (line, NULL, NULL, &status, NULL));
  fail_unless_equals_int (status, 0);
  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  for (guint i = 0; i < 200; i++)
    g_byte_array_append (file, (const guint8 *) data, size);
  files_remove_folder (folder);
  return g_byte_array_free_to_bytes (file);
}

static GstClockTime
get_cpu_time (void)
{
  struct timespec time;

  fail_unless (clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  return GST_TIMESPEC_TO_TIME (time);
}

/* Tests that a flush does not wait for the samples before a window, which AAC
 * needs: the rest of them is not decoded. The decoder may be done before the
 * flush. */
GST_START_TEST (test_flush)
{
  g_autoptr (GBytes) file = make_long_aac ();
  Rig *rig =
      rig_new ("spdldecode", "offset", (guint64) (1990 * GST_SECOND), NULL);
  GstClockTime start = get_cpu_time (), whole, flushed;
  guint n_items;
  GstSegment segment;

  rig_start (rig, NULL);
  push_wav (rig, 0, file);
  rig_wait_items (rig, 1);
  whole = get_cpu_time () - start;
  do {
    n_items = rig_count_items (rig);
    start = get_cpu_time ();
    push_wav (rig, 1, file);
    wait_until (get_cpu_time () - start > whole / 8);
    start = get_cpu_time ();
    gst_pad_push_event (rig->src, gst_event_new_flush_start ());
    gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
    flushed = get_cpu_time () - start;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  } while (rig_count_items (rig) > n_items);
  fail_unless (flushed < whole / 2,
      "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, flushed, whole);
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (audio, TEST (test_slice), TEST (test_usual_positions),
    TEST (test_unaligned), TEST (test_chunks), TEST (test_caps),
    TEST (test_flush))
