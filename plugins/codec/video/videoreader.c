/* gst-spdl: reader of a video's frames
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/log.h"
#include "plugins/codec/ffmpeg/videoframe.h"
#include "plugins/codec/video/videodecoder.h"
#include "plugins/codec/video/videotrack.h"

/* Pushes only the packets that the selected frames need: decoding starts at the
 * nearest key frame, jumps to a later key frame where possible, and skips
 * non-reference frames that are not selected. */

struct _SpdlVideoReader {
  SpdlPackets packets;
  SpdlVideoDecoder *decoder;
  const SpdlVideoPlay *play;

  /* The current run. */
  guint begin, next; /* range of packets that were pushed */
  guint n_frames;    /* frames output */
};

/* Output */

/* Returns the packet of a frame, or NULL. */
static SpdlPacket *
find_packet (const SpdlVideoReader *self, const AVFrame *frame)
{
  const SpdlPackets *packets = &self->packets;
  SpdlPacket *packet;

  if (packets->is_counted) {
    const guint rank =
        spdl_packets_get (packets, self->begin)->rank + self->n_frames;

    return rank < packets->by_rank->len
               ? spdl_packets_get (packets, spdl_packets_find (packets, rank))
               : NULL;
  }
  if (frame->pts < self->begin || frame->pts >= self->next)
    return NULL;
  packet = spdl_packets_get (packets, frame->pts);
  return packet->rank != G_MAXUINT ? packet : NULL;
}

static void
take_frame (gpointer user_data, const AVFrame *frame)
{
  SpdlVideoReader *self = user_data;
  SpdlPacket *packet = find_packet (self, frame);
  GstVideoInfo info;
  GstBuffer *buffer;

  self->n_frames++;
  if (!packet || !packet->is_wanted)
    return;
  if (!spdl_video_decoder_is_good (self->decoder, frame))
    return;
  buffer = spdl_video_frame_wrap (frame, &info);
  if (!buffer) {
    spdl_video_decoder_refuse (self->decoder, frame);
    return;
  }
  packet->is_wanted = FALSE;
  self->play->frame (self->play->user_data, packet->rank,
      &(SpdlFrame){ .buffer = buffer,
          .info = &info,
          .n_rows = GST_VIDEO_INFO_HEIGHT (&info),
          /* Palettes in AVI files have zeros in place of alpha. */
          .opaque = GST_VIDEO_FORMAT_INFO_HAS_PALETTE (info.finfo),
          .is_video = TRUE });
  gst_buffer_unref (buffer);
}

/* Input */

static gboolean
is_spare (const SpdlVideoReader *self, const SpdlPacket *packet)
{
  const SpdlPacketFormat *format = &self->packets.format;

  return format->length_size > 0 && !packet->is_wanted && !packet->is_key &&
         !self->packets.is_counted &&
         spdl_packet_is_spare (format, packet->data->data, packet->data->size);
}

/* Returns whether the packet is shown before the key frame that decoding
 * started at, so that it may depend on earlier frames. */
static gboolean
is_leading (const SpdlVideoReader *self, const SpdlPacket *packet)
{
  const SpdlPacket *first = spdl_packets_get (&self->packets, self->begin);

  return first->is_key && (self->packets.is_counted ? packet->rank < first->rank
                                                    : packet->pts < first->pts);
}

/* Pushes packets up to @end. Returns FALSE if the decoder rejects one. */
static gboolean
feed_packet (SpdlVideoReader *self, guint end)
{
  while (self->next <= end) {
    const SpdlPacket *packet = spdl_packets_get (&self->packets, self->next++);

    if (g_cancellable_is_cancelled (self->play->cancellable))
      return FALSE;
    if (packet->is_doubtful && !self->play->keep) {
      spdl_video_decoder_note (self->decoder,
          "that an earlier picture, on which it may depend, is missing");
      return FALSE;
    }
    if (packet->is_lost ||
        (self->next - 1 > self->begin && is_spare (self, packet)))
      continue;
    if (spdl_video_decoder_push (self->decoder, packet->data))
      continue;
    if (!is_leading (self, packet))
      return FALSE;
    spdl_video_decoder_forgive (self->decoder);
  }
  return TRUE;
}

/* Pushes packets up to @end, whose frame is needed. If frames are identified by
 * counting, pushes more until the frame is output, which may be that of a later
 * packet. */
static gboolean
feed_for (SpdlVideoReader *self, guint end)
{
  const SpdlPacket *packet = spdl_packets_get (&self->packets, end);
  gboolean ok = feed_packet (self, end);

  while (ok && self->packets.is_counted && packet->is_wanted &&
         self->next < self->packets.n_packets &&
         !spdl_packets_get (&self->packets, self->next)->is_key)
    ok = feed_packet (self, self->next);
  return ok;
}

/* Playback */

/* Returns whether it is cheaper to restart at a later key frame than to decode
 * all packets up to @i. */
static gboolean
is_jump (const SpdlVideoReader *self, guint i)
{
  return i >= self->next &&
         spdl_packets_find_start (&self->packets, i, G_MAXUINT) > self->next;
}

/* Decodes the frames @ranks from packet @start on, up to the first frame that
 * needs a jump. Returns the number of frames that were sent to the decoder. */
static guint
play_from (SpdlVideoReader *self, guint start, const guint *ranks, guint n)
{
  gboolean ok = TRUE;
  guint i;

  self->begin = self->next = start;
  self->n_frames = 0;
  for (i = 0; i < n && ok; i++) {
    const guint packet = spdl_packets_find (&self->packets, ranks[i]);

    if (i > 0 && is_jump (self, packet))
      break;
    ok = feed_for (self, packet);
  }
  spdl_video_decoder_drain (self->decoder);
  return i;
}

/* Returns whether a frame is missing. Retries from earlier key frames, in case
 * @start is not a random access point. */
static gboolean
is_missing (SpdlVideoReader *self, guint rank, guint start)
{
  const guint i = spdl_packets_find (&self->packets, rank);

  while (spdl_packets_get (&self->packets, i)->is_wanted &&
         !g_cancellable_is_cancelled (self->play->cancellable)) {
    const guint before = spdl_packets_find_start (&self->packets, i, start);

    if (before >= start)
      return TRUE;
    start = before;
    play_from (self, start, &rank, 1);
  }
  return FALSE;
}

static void
set_missing (SpdlVideoReader *self, guint rank, GError **error)
{
  g_autofree gchar *message = spdl_video_decoder_take_message (self->decoder);

  if (error && !*error)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt video: at frame %u, %s reported %s", rank,
        spdl_video_decoder_get_name (self->decoder),
        message ? message : "that decoding failed");
}

static gboolean
play_ranks (SpdlVideoReader *self, const guint *ranks, guint n, GError **error)
{
  guint n_missing = 0;

  g_free (spdl_video_decoder_take_message (self->decoder));
  for (guint i = 0; i < n; i++)
    spdl_packets_get (
        &self->packets, spdl_packets_find (&self->packets, ranks[i]))
        ->is_wanted = TRUE;
  for (guint i = 0; i < n;) {
    const guint packet = spdl_packets_find (&self->packets, ranks[i]);
    const guint start =
        spdl_packets_find_start (&self->packets, packet, G_MAXUINT);
    const guint end = i + play_from (self, start, ranks + i, n - i);

    for (; i < end; i++) {
      if (!is_missing (self, ranks[i], start))
        continue;
      set_missing (self, ranks[i], error);
      if (!self->play->keep)
        return FALSE;
      n_missing++;
    }
    if (g_cancellable_is_cancelled (self->play->cancellable)) {
      g_clear_error (error);
      g_cancellable_set_error_if_cancelled (self->play->cancellable, error);
      return FALSE;
    }
  }
  return n_missing < n;
}

/* Interface */

static SpdlVideoReader *
create_reader (void)
{
  SpdlVideoReader *self = g_new0 (SpdlVideoReader, 1);

  spdl_packets_init (&self->packets);
  self->decoder = spdl_video_decoder_new (take_frame, self);
  return self;
}

static void
destroy_reader (SpdlVideoReader *self)
{
  spdl_video_decoder_free (self->decoder);
  spdl_packets_clear (&self->packets);
  g_free (self);
}

static gboolean
read_file (SpdlVideoReader *self, const SpdlMediaFile *file,
    const SpdlVideoLimits *limits, guint64 max_pixels,
    GCancellable *cancellable, const SpdlVideoTable **table, GError **error)
{
  gboolean ok;

  spdl_ffmpeg_log_begin ();
  ok = spdl_video_track_read (
      &self->packets, file, limits, max_pixels, cancellable, error);
  spdl_packets_sort (&self->packets);
  *table = &self->packets.table;
  return ok;
}

static gboolean
play_frames (SpdlVideoReader *self, const SpdlVideoPlay *play,
    const guint *ranks, guint n, GError **error)
{
  spdl_ffmpeg_log_begin ();
  self->play = play;
  return spdl_video_decoder_open (self->decoder, self->packets.codec,
             play->max_pixels, play->keep, error) &&
         play_ranks (self, ranks, n, error);
}

static void
close_file (SpdlVideoReader *self)
{
  spdl_packets_reset (&self->packets);
}

const SpdlVideoFuncs spdl_video_reader_funcs = { create_reader, destroy_reader,
  spdl_video_track_probe, read_file, play_frames, close_file };
