/* gst-spdl: video decoder based on libavcodec
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/videodecoder.h"

#include <gst/gst.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>

#include "plugins/codec/ffmpeg/log.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

struct _SpdlVideoDecoder {
  AVCodecContext *codec;
  guint64 max_pixels;
  AVFrame *frame;
  void (*take) (gpointer user_data, const AVFrame *frame);
  gpointer user_data;
  gboolean is_fresh; /* nothing was pushed since the last flush */
  guint64 too_large; /* atomic: width and height of a frame that was refused */
  guint n_errors;    /* atomic: that the decoder logged */
  gboolean keep;     /* errors do not matter */
  gint64 last;       /* number of the last packet */
  gint64 bad_from;   /* number of the first packet with an error since the last
                        flush; frames from there on may be made from wrong ones */
  gchar *message;
};

/* Refuses a frame before it is allocated, in any thread. The size is without
 * the rows and columns that pad the last block, which max_pixels of libavcodec
 * counts. */
static int
get_buffer (AVCodecContext *codec, AVFrame *frame, int flags)
{
  SpdlVideoDecoder *self = codec->opaque;

  if ((guint64) codec->width * codec->height > self->max_pixels) {
    __atomic_store_n (&self->too_large,
        (guint64) codec->width << 32 | codec->height, __ATOMIC_RELAXED);
    return AVERROR (EINVAL);
  }
  return avcodec_default_get_buffer2 (codec, frame, flags);
}

/* Frames of HEVC that are made from missing ones have no flag. Other decoders
 * log errors that do not matter. */
static void
count_error (const AVCodecContext *codec)
{
  SpdlVideoDecoder *self = codec->opaque;

  if (codec->codec_id == AV_CODEC_ID_HEVC && codec->get_buffer2 == get_buffer)
    __atomic_add_fetch (&self->n_errors, 1, __ATOMIC_RELAXED);
}

SpdlVideoDecoder *
spdl_video_decoder_new (
    void (*frame) (gpointer user_data, const AVFrame *frame),
    gpointer user_data)
{
  SpdlVideoDecoder *self = g_new0 (SpdlVideoDecoder, 1);

  self->take = frame;
  self->user_data = user_data;
  self->frame = av_frame_alloc ();
  g_assert (self->frame);
  spdl_ffmpeg_log_watch (count_error);
  return self;
}

void
spdl_video_decoder_free (SpdlVideoDecoder *self)
{
  avcodec_free_context (&self->codec);
  av_frame_free (&self->frame);
  g_free (self->message);
  g_free (self);
}

/* Errors */

void
spdl_video_decoder_note (SpdlVideoDecoder *self, const gchar *text)
{
  if (!self->message)
    self->message = g_strdup (text);
}

/* Notes a failure of the decoder. */
static void
note_failure (SpdlVideoDecoder *self, gint ret)
{
  const guint64 size = __atomic_load_n (&self->too_large, __ATOMIC_RELAXED);
  const gchar *text = spdl_ffmpeg_log_get ();
  guint width = size >> 32, height = size;

  if (size == 0 &&
      sscanf (text, "Picture size %ux%u exceeds", &width, &height) != 2) {
    spdl_video_decoder_note (self, text[0] ? text : av_err2str (ret));
    return;
  }
  g_free (self->message);
  self->message = g_strdup_printf (
      "%u by %u pixels, more than max-pixels (%" G_GUINT64_FORMAT ")", width,
      height, self->max_pixels);
}

void
spdl_video_decoder_refuse (SpdlVideoDecoder *self, const AVFrame *frame)
{
  const gchar *name = av_get_pix_fmt_name (frame->format);
  g_autofree gchar *text =
      g_strdup_printf ("pixels of the format %s, which cannot be converted",
          name ? name : "(unknown)");

  spdl_video_decoder_note (self, text);
}

gchar *
spdl_video_decoder_take_message (SpdlVideoDecoder *self)
{
  return g_steal_pointer (&self->message);
}

const gchar *
spdl_video_decoder_get_name (const SpdlVideoDecoder *self)
{
  return self->codec->codec->name;
}

/* Opening */

static gint
open_codec (SpdlVideoDecoder *self, const AVCodec *codec,
    const AVCodecParameters *parameters)
{
  gint ret;

  self->codec = avcodec_alloc_context3 (codec);
  if (!self->codec)
    return AVERROR (ENOMEM);
  ret = avcodec_parameters_to_context (self->codec, parameters);
  if (ret < 0)
    return ret;
  /* Workers decode several videos at a time, which needs less memory. */
  self->codec->thread_count = 1;
  self->codec->opaque = self;
  self->codec->get_buffer2 = get_buffer;
  /* Else columns at the left are not always cropped. */
  self->codec->flags |= AV_CODEC_FLAG_UNALIGNED;
  /* Padded sizes and side data may be larger than what max-pixels permits. */
  self->codec->max_pixels = MIN (self->max_pixels, G_MAXINT32 / 4) * 2 + 65536;
  return avcodec_open2 (self->codec, codec, NULL);
}

gboolean
spdl_video_decoder_open (SpdlVideoDecoder *self,
    const AVCodecParameters *parameters, guint64 max_pixels, gboolean keep,
    GError **error)
{
  const AVCodec *codec = avcodec_find_decoder (parameters->codec_id);
  gint ret;

  g_clear_pointer (&self->message, g_free);
  self->is_fresh = TRUE;
  self->bad_from = G_MAXINT64;
  self->too_large = 0;
  self->keep = keep;
  avcodec_free_context (&self->codec);
  self->max_pixels = max_pixels;
  if (!codec) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Video uses the codec %s, which the installed libavcodec cannot decode",
        avcodec_get_name (parameters->codec_id));
    return FALSE;
  }
  ret = open_codec (self, codec, parameters);
  if (ret >= 0) {
    GST_INFO ("%s is open", codec->name);
    return TRUE;
  }
  note_failure (self, ret);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt video: the decoder %s reported %s", codec->name, self->message);
  g_clear_pointer (&self->message, g_free);
  avcodec_free_context (&self->codec);
  return FALSE;
}

/* Decoding */

static guint
get_errors (const SpdlVideoDecoder *self)
{
  return __atomic_load_n (&self->n_errors, __ATOMIC_RELAXED);
}

/* Notes whether there are more than @n errors. */
static void
note_errors (SpdlVideoDecoder *self, guint n)
{
  if (get_errors (self) != n)
    self->bad_from = MIN (self->bad_from, self->last);
}

/* Takes the frames that are ready. Returns an AVERROR code. */
static gint
take_frames (SpdlVideoDecoder *self)
{
  const guint n = get_errors (self);
  gint ret;

  do {
    ret = avcodec_receive_frame (self->codec, self->frame);
    note_errors (self, n);
    if (ret >= 0)
      self->take (self->user_data, self->frame);
    av_frame_unref (self->frame);
  } while (ret >= 0);
  return ret;
}

gboolean
spdl_video_decoder_push (SpdlVideoDecoder *self, const AVPacket *packet)
{
  const guint n = get_errors (self);
  gint ret = avcodec_send_packet (self->codec, packet);

  self->is_fresh = FALSE;
  self->last = packet->pts;
  note_errors (self, n);
  if (ret >= 0)
    ret = take_frames (self);
  if (ret == AVERROR (EAGAIN) && (self->keep || self->bad_from == G_MAXINT64))
    return TRUE;
  note_failure (self, ret == AVERROR (EAGAIN) ? AVERROR_INVALIDDATA : ret);
  return FALSE;
}

gboolean
spdl_video_decoder_is_good (const SpdlVideoDecoder *self, const AVFrame *frame)
{
  return self->keep ||
         (frame->pts < self->bad_from && !frame->decode_error_flags &&
             !(frame->flags & AV_FRAME_FLAG_CORRUPT));
}

void
spdl_video_decoder_forgive (SpdlVideoDecoder *self)
{
  self->bad_from = G_MAXINT64;
}

void
spdl_video_decoder_drain (SpdlVideoDecoder *self)
{
  gint ret;

  if (self->is_fresh)
    return;
  /* After an error of a packet, there are others. */
  if (avcodec_send_packet (self->codec, NULL) >= 0)
    while ((ret = take_frames (self)) != AVERROR_EOF && ret != AVERROR (EAGAIN))
      note_failure (self, ret);
  avcodec_flush_buffers (self->codec);
  self->is_fresh = TRUE;
  self->bad_from = G_MAXINT64;
}
