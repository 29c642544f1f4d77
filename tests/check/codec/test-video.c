/* gst-spdl: tests of video clips in a pipeline, with intact and broken files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define N_FRAMES 50
#define SIDE 16

static const gchar *const names[] = { "a.mp4", "b.mkv", "c.avi" };

/* Writes a video of which frame n is gray with a luma of 16 + 4 n. */
static void
make_video (const gchar *folder, const gchar *name, const gchar *codec)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree gchar *line = g_strdup_printf (
      "ffmpeg -v error -nostdin -f lavfi -i color=gray:s=64x48:r=25:d=%d "
      "-vf format=yuv420p,geq=lum=16+4*N:cb=128:cr=128 %s %s",
      N_FRAMES / 25, codec, path);
  gint status;

  fail_unless (g_spawn_command_line_sync (line, NULL, NULL, &status, NULL));
  fail_unless_equals_int (status, 0);
}

static gchar *
make_videos (void)
{
  gchar *folder = files_make_folder ();

  make_video (folder, names[0],
      "-c:v libx264 -preset veryfast -qp 8 -g 20 -bf 3 -movflags +faststart");
  make_video (folder, names[1],
      "-c:v libx264 -preset veryfast -qp 8 -g 30 -bf 2 "
      "-x264-params open-gop=1");
  make_video (folder, names[2], "-c:v mpeg4 -q:v 2 -g 30");
  return folder;
}

static void
cut_video (const gchar *folder, const gchar *name, guint percent)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autofree gchar *other = g_strdup_printf ("cut-%s", name);
  g_autofree gchar *data = NULL;
  gsize size;

  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  files_write (folder, other, data, size * percent / 100);
}

static guint
read_number (const guint8 *pixels)
{
  const guint8 middle = pixels[(SIDE / 2 * SIDE + SIDE / 2) * 3];

  return middle * 219 / 1020.0 + 0.5;
}

static void
check_clip (Run *run, guint i, const guint *numbers, guint n)
{
  GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
  const GstStructure *extra = run_item (run, i)->extra;
  const GValue *times = gst_structure_get_value (extra, "frame-times");
  GstSpdlTensorsInfo info;
  GstMapInfo map;
  guint own;

  fail_unless (gst_spdl_tensors_info_from_caps (
      &info, g_ptr_array_index (run->caps, i), NULL));
  fail_unless_equals_int (info.tensors[0].rank, 4);
  fail_unless_equals_int (info.tensors[0].dims[3], n);
  fail_unless (gst_structure_get_uint (extra, "num-frames", &own));
  fail_unless_equals_int (own, n);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, SIDE * SIDE * 3 * n);
  for (guint k = 0; k < n; k++) {
    const guint64 time =
        g_value_get_uint64 (gst_value_array_get_value (times, k));

    fail_unless_equals_int (
        read_number (map.data + SIDE * SIDE * 3 * k), numbers[k]);
    fail_unless (llabs ((gint64) time -
                        (gint64) numbers[k] * 40 * GST_MSECOND) <= GST_MSECOND);
  }
  gst_buffer_unmap (buffer, &map);
}

static void
check_run (const gchar *folder, guint concurrency, const gchar *order)
{
  static const guint uniform[] = { 5, 15, 25, 35, 45 };
  Run *run = run_pipeline (
      "spdlsrc location=%s epochs=3 ! spdlfetch ! spdldecode concurrency=%u "
      "output-order=%s num-frames=5 clip-sampling=uniform width=%d height=%d ! "
      "fakesink name=sink",
      folder, concurrency, order, SIDE, SIDE);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, 3 * G_N_ELEMENTS (names));
  for (guint i = 0; i < run->buffers->len; i++)
    check_clip (run, i, uniform, G_N_ELEMENTS (uniform));
  run_free (run);
}

GST_START_TEST (test_the_right_frames)
{
  gchar *folder = make_videos ();

  check_run (folder, 1, "input");
  check_run (folder, 4, "completion");
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that broken files fail and do not affect intact ones. */
GST_START_TEST (test_broken)
{
  static const guint center[] = { 22, 24, 26 };
  gchar *folder = make_videos ();
  Run *run;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    cut_video (folder, names[i], 60);
  files_write_text (folder, "text", "no video at all");
  files_write_jpeg (folder, "image", 32, 32, 1);
  run = run_pipeline (
      "spdlsrc location=%s ! spdlfetch ! spdldecode concurrency=3 "
      "output-order=input num-frames=3 frame-step=2 clip-sampling=center "
      "width=%d "
      "height=%d ! fakesink name=sink",
      folder, SIDE, SIDE);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 5);
  for (guint i = 0; i < run->failures->len; i++)
    fail_unless (errors_text_has (run_failure_text (run, i), "Corrupt ") ||
                     errors_text_has (run_failure_text (run, i), "is not "),
        "%s", run_failure_text (run, i));
  fail_unless_equals_int (run->buffers->len, G_N_ELEMENTS (names));
  for (guint i = 0; i < run->buffers->len; i++)
    check_clip (run, i, center, G_N_ELEMENTS (center));
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that the frames decoded before an error are delivered. */
GST_START_TEST (test_kept)
{
  gchar *folder = make_videos ();
  Run *run;

  cut_video (folder, names[0], 90);
  cut_video (folder, names[1], 90);
  run = run_pipeline (
      "spdlsrc location=%s pattern=\"cut-*\" ! spdlfetch ! spdldecode "
      "on-corrupt=keep num-frames=4 clip-sampling=uniform width=%d height=%d ! "
      "fakesink name=sink",
      folder, SIDE, SIDE);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, 2);
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (
    video, TEST (test_the_right_frames), TEST (test_broken), TEST (test_kept))
