/* gst-spdl: still images decoded by libavcodec
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

#include <libavutil/pixdesc.h>
#include <string.h>

#include "plugins/codec/ffmpeg/log.h"
#include "plugins/codec/ffmpeg/videoframe.h"

/* Lets @codec decode the file in @packet. Returns an AVERROR code. */
static gint
decode_packet (AVCodecContext *codec, const AVPacket *packet, AVFrame *frame)
{
  gint ret;

  codec->thread_count = 1;
  ret = avcodec_open2 (codec, NULL, NULL);
  if (ret >= 0)
    ret = avcodec_send_packet (codec, packet);
  if (ret >= 0)
    ret = avcodec_send_packet (codec, NULL);
  if (ret >= 0)
    ret = avcodec_receive_frame (codec, frame);
  if (ret >= 0 &&
      (frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT))
    ret = AVERROR_INVALIDDATA;
  return ret;
}

/* Decodes the file with a new decoder, which knows nothing of other files. */
static gint
decode_data (
    const AVCodec *decoder, const guint8 *data, gsize size, AVFrame *frame)
{
  AVCodecContext *codec = avcodec_alloc_context3 (decoder);
  AVPacket *packet = av_packet_alloc ();
  gint ret = AVERROR (ENOMEM);

  if (codec && packet && size <= G_MAXINT32 / 2 &&
      av_new_packet (packet, size) >= 0) {
    memcpy (packet->data, data, size);
    ret = decode_packet (codec, packet, frame);
  }
  av_packet_free (&packet);
  avcodec_free_context (&codec);
  return ret;
}

static void
set_failure (const AVCodec *decoder, gint ret, GError **error)
{
  const gchar *text = spdl_ffmpeg_log_get ();

  if (ret == AVERROR (ENOMEM))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for the decoder %s", decoder->name);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt image: the decoder %s reported: %s", decoder->name,
        text[0] ? text : av_err2str (ret));
}

GstBuffer *
spdl_ffmpeg_still_decode (const gchar *codec_name, const guint8 *data,
    gsize size, GstVideoInfo *info, GError **error)
{
  const AVCodec *decoder = avcodec_find_decoder_by_name (codec_name);
  AVFrame *frame = av_frame_alloc ();
  GstBuffer *buffer = NULL;
  gint ret = AVERROR (ENOMEM);

  spdl_ffmpeg_log_begin ();
  if (!decoder) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "The installed libavcodec has no decoder %s", codec_name);
    av_frame_free (&frame);
    return NULL;
  }
  if (frame)
    ret = decode_data (decoder, data, size, frame);
  if (ret < 0) {
    set_failure (decoder, ret, error);
    av_frame_free (&frame);
    return NULL;
  }
  buffer = spdl_video_frame_take (frame, info);
  if (!buffer)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "The decoder %s does not support this variant of the format: its "
        "pixels cannot be converted",
        codec_name);
  return buffer;
}
