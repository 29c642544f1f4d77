/* gst-spdl: audio decode with FFmpeg's libraries, the reference of bench-audio
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes all files of a list to interleaved float32 in one thread, repeatedly
 * for some seconds, and prints the CPU time per file: demuxing, decoding and
 * conversion with swresample. Packet, frame and result are reused; the decoder
 * and the converter are opened for each file, with its parameters.
 *
 *     audio-cost LIST SECONDS [RATE [CHANNELS [--no-probe | DECODER]]]
 *
 * RATE and CHANNELS are those of the file if they are 0 or missing.
 * --no-probe trusts the demuxer's header and skips
 * avformat_find_stream_info(). DECODER selects a decoder of libavcodec; the
 * default is the first one for the codec. */

#include <glib.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/benchmarks/cpu-seconds.h"

typedef struct {
  gint rate, channels; /* 0: as in the file */
  gboolean probe;
  const AVCodec *decoder; /* nullable: the first one for the codec */
  AVPacket *packet;
  AVFrame *frame;

  /* The current file. */
  AVFormatContext *file;
  AVCodecContext *codec;
  SwrContext *converter;
  gint stream;
  gint out_rate, out_channels;
  GByteArray *result; /* grows to the longest result, and `n` bytes are used */
  gsize n;
} Way;

static gboolean
open_file (Way *way, const gchar *path)
{
  const AVCodec *decoder = NULL;

  if (avformat_open_input (&way->file, path, NULL, NULL) != 0 ||
      (way->probe && avformat_find_stream_info (way->file, NULL) < 0))
    return FALSE;
  way->stream = av_find_best_stream (
      way->file, AVMEDIA_TYPE_AUDIO, -1, -1, way->probe ? &decoder : NULL, 0);
  if (way->stream < 0)
    return FALSE;
  const AVStream *stream = way->file->streams[way->stream];
  if (way->decoder)
    decoder = way->decoder;
  if (!decoder)
    decoder = avcodec_find_decoder (stream->codecpar->codec_id);
  way->codec = avcodec_alloc_context3 (decoder);
  avcodec_parameters_to_context (way->codec, stream->codecpar);
  way->codec->pkt_timebase = stream->time_base;
  way->codec->thread_count = 1;
  way->n = 0;
  return avcodec_open2 (way->codec, decoder, NULL) == 0;
}

static gboolean
open_converter (Way *way)
{
  AVFrame *frame = way->frame;
  AVChannelLayout layout;
  gboolean ok;

  way->out_rate = way->rate ? way->rate : frame->sample_rate;
  way->out_channels =
      way->channels ? way->channels : frame->ch_layout.nb_channels;
  av_channel_layout_default (&layout, way->out_channels);
  ok = swr_alloc_set_opts2 (&way->converter,
           way->channels ? &layout : &frame->ch_layout, AV_SAMPLE_FMT_FLT,
           way->out_rate, &frame->ch_layout, frame->format, frame->sample_rate,
           0, NULL) == 0 &&
       swr_init (way->converter) == 0;
  av_channel_layout_uninit (&layout);
  return ok;
}

/* Converts @frame, or flushes the converter if it is NULL. */
static gboolean
convert (Way *way, const AVFrame *frame)
{
  const gsize size = way->out_channels * sizeof (float);
  const gint room =
      swr_get_out_samples (way->converter, frame ? frame->nb_samples : 0);
  guint8 *out;
  gint n;

  if ((way->n + room) * size > way->result->len)
    g_byte_array_set_size (
        way->result, MAX ((way->n + room) * size, 2 * way->result->len));
  out = way->result->data + way->n * size;
  n = swr_convert (way->converter, &out, room,
      frame ? (const guint8 **) frame->extended_data : NULL,
      frame ? frame->nb_samples : 0);
  way->n += MAX (n, 0);
  return n >= 0;
}

static gboolean
take_frames (Way *way)
{
  while (avcodec_receive_frame (way->codec, way->frame) == 0) {
    const gboolean ok =
        (way->converter || open_converter (way)) && convert (way, way->frame);

    av_frame_unref (way->frame);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

static gboolean
decode (Way *way)
{
  while (av_read_frame (way->file, way->packet) == 0) {
    gboolean ok = TRUE;

    if (way->packet->stream_index == way->stream)
      ok = avcodec_send_packet (way->codec, way->packet) == 0 &&
           take_frames (way);
    av_packet_unref (way->packet);
    if (!ok)
      return FALSE;
  }
  return avcodec_send_packet (way->codec, NULL) == 0 && take_frames (way) &&
         way->converter && convert (way, NULL);
}

static void
run (Way *way, gchar **paths)
{
  for (; *paths && **paths; paths++) {
    if (!open_file (way, *paths) || !decode (way)) {
      g_printerr ("cannot decode %s\n", *paths);
      exit (1);
    }
    swr_free (&way->converter);
    avcodec_free_context (&way->codec);
    avformat_close_input (&way->file);
  }
}

int
main (int argc, char **argv)
{
  g_autofree gchar *text = NULL;
  Way way = { .probe = argc < 6 || strcmp (argv[5], "--no-probe") != 0 };
  double before, seconds;
  gchar **paths;
  guint64 n = 0;

  if (argc < 3 || !g_file_get_contents (argv[1], &text, NULL, NULL)) {
    g_printerr ("usage: audio-cost LIST SECONDS [RATE [CHANNELS [--no-probe | "
                "DECODER]]]\n");
    return 2;
  }
  paths = g_strsplit (g_strchomp (text), "\n", -1);
  way.rate = argc > 3 ? atoi (argv[3]) : 0;
  way.channels = argc > 4 ? atoi (argv[4]) : 0;
  if (argc > 5 && way.probe &&
      !(way.decoder = avcodec_find_decoder_by_name (argv[5]))) {
    g_printerr ("libavcodec has no decoder %s\n", argv[5]);
    return 2;
  }
  way.packet = av_packet_alloc ();
  way.frame = av_frame_alloc ();
  way.result = g_byte_array_new ();
  av_log_set_level (AV_LOG_ERROR);
  run (&way, paths);
  seconds = atof (argv[2]);
  for (before = cpu_seconds (); cpu_seconds () < before + seconds;
       n += g_strv_length (paths))
    run (&way, paths);
  printf ("%.2f\n", (cpu_seconds () - before) * 1e6 / n);
  return 0;
}
