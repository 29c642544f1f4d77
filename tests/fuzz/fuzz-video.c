/* gst-spdl: fuzz target of video files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "tests/fuzz/fuzz.h"

/* Limits an input to milliseconds. */
#define MAX_PIXELS (1 << 14)
#define MAX_SIZE (1 << 16)
#define MAX_FRAMES 64

static const SpdlVideoFuncs *funcs;

/* The frames of one run. */
typedef struct {
  guint n;
  guint64 sum;
} Frames;

static void
take_frame (gpointer user_data, guint rank, const SpdlFrame *frame)
{
  Frames *frames = user_data;
  const GstVideoInfo *info = frame->info;
  GstVideoFrame in;

  g_assert_cmpuint ((guint64) info->width * info->height, <=, MAX_PIXELS);
  g_assert_true (gst_video_frame_map (&in, info, frame->buffer, GST_MAP_READ));
  for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES (&in); i++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&in, i); y++)
      frames->sum = frames->sum * 31 +
                    ((const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&in,
                        i))[(gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&in, i)];
  gst_video_frame_unmap (&in);
  frames->sum = frames->sum * 31 + rank;
  frames->n++;
}

static void
check_table (const SpdlVideoTable *table)
{
  g_assert_cmpuint (table->orientation, >=, 1);
  g_assert_cmpuint (table->orientation, <=, 8);
  for (guint i = 1; i < table->times->len; i++)
    g_assert_cmpuint (g_array_index (table->times, GstClockTime, i - 1), <=,
        g_array_index (table->times, GstClockTime, i));
}

static void
play (SpdlVideoReader *reader, const SpdlMediaFile *file, guint rank,
    gboolean keep, Frames *frames)
{
  const SpdlVideoLimits limits = { 0, GST_CLOCK_TIME_NONE };
  const SpdlVideoPlay how = { .max_pixels = MAX_PIXELS,
    .keep = keep,
    .frame = take_frame,
    .user_data = frames };
  const SpdlVideoTable *table = NULL;
  GError *error = NULL;

  if (!funcs->read (reader, file, &limits, MAX_PIXELS, NULL, &table, &error)) {
    fuzz_check_error (error);
    g_clear_error (&error);
    if (!keep)
      table = NULL;
  }
  if (table && table->times->len > 0 && table->times->len <= MAX_FRAMES) {
    const guint ranks[] = { 0, MAX (rank % table->times->len, 1) };

    check_table (table);
    if (!funcs->play (reader, &how, ranks,
            table->times->len > 1 ? G_N_ELEMENTS (ranks) : 1, &error))
      fuzz_check_error (error);
    g_clear_error (&error);
  }
  funcs->close (reader);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const SpdlFfmpegFuncs *all;

  fuzz_init ();
  all = spdl_ffmpeg_get_funcs (NULL);
  funcs = all ? all->video : NULL;
  return 0;
}

/* The settings are the number of a frame and whether a defect is permitted. A
 * file gives the same frames each time, also after another file. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static SpdlVideoReader *reader;
  FuzzInput input = { data, size };
  const guint rank = fuzz_take (&input);
  const gboolean keep = fuzz_take (&input) & 1;
  SpdlMediaFile file = { .name = "video", .size = input.size };
  Frames frames = { 0 }, again = { 0 };
  g_autofree guint8 *copy = NULL;

  if (!funcs || input.size == 0 || input.size > MAX_SIZE)
    return 0;
  copy = g_memdup2 (input.data, input.size);
  file.data = copy;
  if (!funcs->probe (&file))
    return 0;
  if (!reader)
    reader = funcs->create ();
  play (reader, &file, rank, keep, &frames);
  play (reader, &file, rank, keep, &again);
  g_assert_cmpuint (frames.n, ==, again.n);
  g_assert_cmpuint (frames.sum, ==, again.sum);
  return 0;
}
