/* gst-spdl: image decode and resize with FFmpeg's libraries, a reference of
 * bench-decode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes all JPEGs of a list and resizes them to one size in one thread,
 * repeatedly for some seconds, and prints the CPU time per image: demuxing,
 * MJPEG decode, and swscale's bilinear scaling. Decoder, packet, frame and
 * result are reused. A scaler is created when the size changes, as swscale
 * requires.
 *
 *     ffmpeg-cost LIST SECONDS WIDTH HEIGHT [RESULTS]
 *     ffmpeg-cost --version
 *
 * A line of the list is a path, followed, for a crop, by its left, top, width
 * and height after tabs. With RESULTS, the images of one pass are written to
 * that file as RGB, and nothing is measured. */

#include <glib.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/benchmarks/cpu-seconds.h"

typedef struct {
  gchar *path;
  gint x, y, width, height; /* a width of 0: the whole image */
} Job;

typedef struct {
  AVCodecContext *codec;
  AVPacket *packet;
  AVFrame *frame;
  struct SwsContext *scaler;
  gint width, height;
  guint8 *result;
} Way;

static GArray *
read_list (const gchar *path)
{
  GArray *jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return jobs;
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line && **line; line++) {
    g_auto (GStrv) fields = g_strsplit (*line, "\t", -1);
    Job job = { g_strdup (fields[0]) };

    if (g_strv_length (fields) == 5) {
      job.x = atoi (fields[1]);
      job.y = atoi (fields[2]);
      job.width = atoi (fields[3]);
      job.height = atoi (fields[4]);
    }
    g_array_append_val (jobs, job);
  }
  return jobs;
}

static gboolean
open_codec (Way *way, const AVCodecParameters *parameters)
{
  const AVCodec *codec = avcodec_find_decoder (parameters->codec_id);

  if (!codec)
    return FALSE;
  way->codec = avcodec_alloc_context3 (codec);
  way->codec->thread_count = 1;
  return avcodec_open2 (way->codec, codec, NULL) == 0;
}

/* Reads the only packet of a file and decodes it. */
static gboolean
decode (Way *way, const gchar *path)
{
  AVFormatContext *file = NULL;
  gboolean ok;

  if (avformat_open_input (&file, path, NULL, NULL) != 0)
    return FALSE;
  ok = (way->codec || open_codec (way, file->streams[0]->codecpar)) &&
       av_read_frame (file, way->packet) == 0;
  if (ok) {
    ok = avcodec_send_packet (way->codec, way->packet) == 0 &&
         avcodec_receive_frame (way->codec, way->frame) == 0;
    av_packet_unref (way->packet);
  }
  avformat_close_input (&file);
  return ok;
}

/* Sets @planes to the corner of the crop, rounded to a sample of the chroma
 * planes as in FFmpeg's filter `crop`. */
static void
find_corner (const AVFrame *frame, const Job *job, const guint8 *planes[4])
{
  const AVPixFmtDescriptor *format = av_pix_fmt_desc_get (frame->format);
  const gint x = job->x >> format->log2_chroma_w;
  const gint y = job->y >> format->log2_chroma_h;

  for (guint i = 0; i < 4; i++) {
    const gboolean chroma = i == 1 || i == 2;

    planes[i] = frame->data[i];
    if (planes[i])
      planes[i] +=
          (y << (chroma ? 0 : format->log2_chroma_h)) * frame->linesize[i] +
          (x << (chroma ? 0 : format->log2_chroma_w));
  }
}

static gboolean
scale (Way *way, const Job *job)
{
  const AVFrame *frame = way->frame;
  const gint stride = way->width * 3;
  const gint width = job->width ? job->width : frame->width;
  const gint height = job->width ? job->height : frame->height;
  const guint8 *planes[4];

  way->scaler = sws_getCachedContext (way->scaler, width, height, frame->format,
      way->width, way->height, AV_PIX_FMT_RGB24, SWS_BILINEAR, NULL, NULL,
      NULL);
  if (!way->scaler)
    return FALSE;
  find_corner (frame, job, planes);
  return sws_scale (way->scaler, planes, frame->linesize, 0, height,
             &way->result, &stride) == way->height;
}

static void
run (Way *way, const GArray *jobs, FILE *results)
{
  for (guint i = 0; i < jobs->len; i++) {
    const Job *job = &g_array_index (jobs, Job, i);

    if (!decode (way, job->path) || !scale (way, job)) {
      g_printerr ("cannot decode %s\n", job->path);
      exit (1);
    }
    if (results)
      fwrite (way->result, 3 * way->width, way->height, results);
    av_frame_unref (way->frame);
  }
}

static void
measure (Way *way, const GArray *jobs, double seconds)
{
  const double before = cpu_seconds (), end = before + seconds;
  guint64 n = 0;

  for (; cpu_seconds () < end; n += jobs->len)
    run (way, jobs, NULL);
  printf ("%.2f\n", (cpu_seconds () - before) * 1e6 / n);
}

int
main (int argc, char **argv)
{
  Way way = { NULL };
  GArray *jobs;

  if (argc == 2 && g_str_equal (argv[1], "--version")) {
    printf ("%s\n", av_version_info ());
    return 0;
  }
  if (argc < 5) {
    g_printerr ("usage: ffmpeg-cost LIST SECONDS WIDTH HEIGHT [RESULTS]\n");
    return 2;
  }
  jobs = read_list (argv[1]);
  if (jobs->len == 0) {
    g_printerr ("no images in %s\n", argv[1]);
    return 1;
  }
  way.packet = av_packet_alloc ();
  way.frame = av_frame_alloc ();
  way.width = atoi (argv[3]);
  way.height = atoi (argv[4]);
  way.result = g_malloc (3 * way.width * way.height);
  av_log_set_level (AV_LOG_ERROR);
  if (argc > 5) {
    FILE *results = fopen (argv[5], "wb");

    if (!results)
      return 1;
    run (&way, jobs, results);
    return fclose (results) == 0 ? 0 : 1;
  }
  measure (&way, jobs, atof (argv[2]));
  return 0;
}
