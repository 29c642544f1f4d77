/* gst-spdl: decode of video clips with FFmpeg's libraries, the reference of
 * bench-video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes clips of the videos of a list in one thread, repeatedly for some
 * seconds, and prints the CPU time per clip in us. A clip has FRAMES frames at
 * equal distances, the ones that `clip-sampling=uniform` selects. It seeks to
 * the nearest key frame if there is one in between, decodes up to the wanted
 * frame, and resizes that with the project's own code, as spdldecode does.
 *
 *     video-cost LIST SECONDS WIDTH HEIGHT FRAMES [skip|all [RESULT]]
 *
 * With `skip`, unwanted non-reference frames are not decoded. With RESULT, the
 * clip of the first video is written to that file as RGB, and nothing is
 * measured. The videos must have a constant frame rate and 8-bit 4:2:0. */

#include <glib.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/codec/resize/planejoin.h"
#include "tests/benchmarks/cpu-seconds.h"

typedef struct {
  AVPacket *packet;
  AVFrame *frame;
  SpdlPlaneJoin *join;
  guint width, height, n_frames;
  gboolean skip;
  guint8 *clip;

  /* The current video. */
  AVFormatContext *file;
  AVStream *stream;
  AVCodecContext *codec;
  gint64 sent; /* time of the last packet, or AV_NOPTS_VALUE */
} Way;

static void
fail (const gchar *what)
{
  g_printerr ("video-cost: %s\n", what);
  exit (1);
}

static void
open_video (Way *way, const gchar *path)
{
  const AVCodec *codec;
  gint i;

  if (avformat_open_input (&way->file, path, NULL, NULL) != 0 ||
      (i = av_find_best_stream (
           way->file, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0)) < 0)
    fail (path);
  for (guint k = 0; k < way->file->nb_streams; k++)
    way->file->streams[k]->discard =
        k == (guint) i ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  way->stream = way->file->streams[i];
  way->codec = avcodec_alloc_context3 (codec);
  avcodec_parameters_to_context (way->codec, way->stream->codecpar);
  way->codec->thread_count = 1;
  if (avcodec_open2 (way->codec, codec, NULL) != 0)
    fail ("no decoder");
  way->sent = AV_NOPTS_VALUE;
}

static void
close_video (Way *way)
{
  avcodec_free_context (&way->codec);
  avformat_close_input (&way->file);
}

/* Seeks to the key frame before @pts, if it is ahead. */
static void
approach (Way *way, gint64 pts)
{
  const gint i =
      av_index_search_timestamp (way->stream, pts, AVSEEK_FLAG_BACKWARD);
  const AVIndexEntry *entry = avformat_index_get_entry (way->stream, i);

  if (way->sent != AV_NOPTS_VALUE && entry && entry->timestamp <= way->sent)
    return;
  if (av_seek_frame (way->file, way->stream->index, pts, AVSEEK_FLAG_BACKWARD) <
      0)
    fail ("cannot seek");
  avcodec_flush_buffers (way->codec);
}

/* Sends the next packet, or starts to drain at the end. */
static void
send (Way *way, gint64 pts)
{
  gint ret;

  while ((ret = av_read_frame (way->file, way->packet)) == 0 &&
         way->packet->stream_index != way->stream->index)
    av_packet_unref (way->packet);
  if (ret < 0) {
    avcodec_send_packet (way->codec, NULL);
    return;
  }
  way->sent = way->packet->dts;
  way->codec->skip_frame = way->skip && way->packet->pts != pts
                               ? AVDISCARD_NONREF
                               : AVDISCARD_DEFAULT;
  if (avcodec_send_packet (way->codec, way->packet) != 0)
    fail ("cannot decode");
  av_packet_unref (way->packet);
}

/* Decodes the frame at @pts. */
static void
decode (Way *way, gint64 pts)
{
  approach (way, pts);
  for (;;) {
    const gint ret = avcodec_receive_frame (way->codec, way->frame);

    if (ret == 0 && way->frame->pts >= pts)
      return;
    if (ret == AVERROR (EAGAIN))
      send (way, pts);
    else if (ret != 0)
      fail ("a frame is missing");
  }
}

/* Resizes as clipbuilder.c does. */
static void
resize (Way *way, guint8 *out)
{
  static const SpdlSampling sampling = { 3, { FALSE, TRUE, TRUE },
    { FALSE, TRUE, TRUE } };
  const AVFrame *frame = way->frame;
  const SpdlResizeJob job = { .interpolation = SPDL_INTERPOLATION_BILINEAR,
    .width = frame->width,
    .height = frame->height,
    .out_width = way->width,
    .out_height = way->height,
    .out = out,
    .out_stride = 3 * way->width };
  const SpdlPlanes *planes =
      spdl_plane_join_begin (way->join, &job, &sampling, FALSE, 0);
  SpdlColors colors;

  spdl_colors_init (&colors, 0.2126, 0.0722, FALSE);
  spdl_plane_join_set_colors (way->join, &colors);
  for (guint i = 0; i < 3; i++) {
    const guint width = (frame->width + (i > 0)) >> (i > 0);
    const guint height = (frame->height + (i > 0)) >> (i > 0);

    for (guint y = 0; y < height; y++) {
      memcpy (planes->get_row (planes->user_data, i, y),
          frame->data[i] + y * frame->linesize[i], width);
      if (y % 16 == 15 || y + 1 == height)
        planes->rows_done (planes->user_data, i, y + 1);
    }
  }
  spdl_plane_join_end (way->join);
}

static void
make_clip (Way *way, const gchar *path)
{
  open_video (way, path);
  for (guint i = 0; i < way->n_frames; i++) {
    const gint64 n = way->stream->nb_frames;
    const gint64 rank = (2 * i + 1) * n / (2 * way->n_frames);
    const gint64 pts =
        way->stream->start_time + av_rescale_q (rank,
                                      av_inv_q (way->stream->avg_frame_rate),
                                      way->stream->time_base);

    decode (way, pts);
    resize (way, way->clip + (gsize) 3 * way->width * way->height * i);
    av_frame_unref (way->frame);
  }
  close_video (way);
}

static void
measure (Way *way, gchar **paths, double seconds)
{
  const double before = cpu_seconds (), end = before + seconds;
  guint64 n = 0;

  while (cpu_seconds () < end)
    for (gchar **path = paths; *path && **path; path++, n++)
      make_clip (way, *path);
  printf ("%.2f\n", (cpu_seconds () - before) * 1e6 / n);
}

int
main (int argc, char **argv)
{
  Way way = { NULL };
  g_autofree gchar *text = NULL;
  g_auto (GStrv) paths = NULL;
  gsize size;

  if (argc < 6 || !g_file_get_contents (argv[1], &text, NULL, NULL)) {
    g_printerr ("usage: video-cost LIST SECONDS WIDTH HEIGHT FRAMES "
                "[skip|all [RESULT]]\n");
    return 2;
  }
  paths = g_strsplit (text, "\n", -1);
  way.packet = av_packet_alloc ();
  way.frame = av_frame_alloc ();
  way.join = spdl_plane_join_new ();
  way.width = atoi (argv[3]);
  way.height = atoi (argv[4]);
  way.n_frames = atoi (argv[5]);
  way.skip = argc > 6 && g_str_equal (argv[6], "skip");
  size = (gsize) 3 * way.width * way.height * way.n_frames;
  way.clip = g_malloc (size);
  av_log_set_level (AV_LOG_ERROR);
  if (argc > 7) {
    make_clip (&way, paths[0]);
    return g_file_set_contents (argv[7], (gchar *) way.clip, size, NULL) ? 0
                                                                         : 1;
  }
  measure (&way, paths, atof (argv[2]));
  return 0;
}
