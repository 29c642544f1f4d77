/* gst-spdl: decoding of selected frames of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/videoframereader.h"

/* Output */

/* Returns the packet of a frame, or NULL. The search starts at the last packet,
 * since frames are output soon after their packet. */
static SpdlPacket *
find_packet (const SpdlVideoFrameReader *self, GstClockTime pts)
{
  if (self->packets->is_counted) {
    const guint rank =
        spdl_packets_get (self->packets, self->begin)->rank + self->n_frames;

    return rank < self->packets->by_rank->len
               ? spdl_packets_get (
                     self->packets, spdl_packets_find (self->packets, rank))
               : NULL;
  }
  for (guint i = self->next; i-- > self->begin;) {
    SpdlPacket *packet = spdl_packets_get (self->packets, i);

    if (packet->pts == pts && packet->rank != G_MAXUINT)
      return packet;
  }
  return NULL;
}

static void
take_frame (gpointer user_data, const SpdlFrame *frame, GstClockTime pts)
{
  SpdlVideoFrameReader *self = user_data;
  SpdlPacket *packet = find_packet (self, pts);

  self->n_frames++;
  if (!packet || !packet->is_wanted)
    return;
  if (GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_CORRUPTED) &&
      !self->keep)
    return;
  packet->is_wanted = FALSE;
  self->frame (self->user_data, packet->rank, frame);
}

void
spdl_video_frame_reader_init (SpdlVideoFrameReader *self,
    void (*frame) (gpointer, guint, const SpdlFrame *), gpointer user_data)
{
  *self = (SpdlVideoFrameReader){ .frame = frame, .user_data = user_data };
  self->sink = (SpdlVideoDecoderSink){ take_frame, self };
}

/* Input */

static gboolean
is_spare (const SpdlVideoFrameReader *self, const SpdlPacket *packet)
{
  gboolean is = FALSE;
  GstMapInfo map;

  if (self->format.length_size == 0 || packet->is_wanted || packet->is_key ||
      self->packets->is_counted ||
      !gst_buffer_map (packet->data, &map, GST_MAP_READ))
    return FALSE;
  is = spdl_packet_is_spare (&self->format, map.data, map.size);
  gst_buffer_unmap (packet->data, &map);
  return is;
}

/* Returns whether the packet is shown before the key frame that decoding
 * started at, so that it may depend on earlier frames. */
static gboolean
is_leading (const SpdlVideoFrameReader *self, const SpdlPacket *packet)
{
  const SpdlPacket *first = spdl_packets_get (self->packets, self->begin);

  return first->is_key &&
         (self->packets->is_counted ? packet->rank < first->rank
                                    : packet->pts < first->pts);
}

/* Pushes packets up to @end. Returns FALSE if the decoder rejects one. */
static gboolean
feed_packet (SpdlVideoFrameReader *self, guint end)
{
  while (self->next <= end) {
    const SpdlPacket *packet = spdl_packets_get (self->packets, self->next++);

    if (g_cancellable_is_cancelled (self->cancellable))
      return FALSE;
    if (packet->is_lost ||
        (self->next - 1 > self->begin && is_spare (self, packet)))
      continue;
    if (!spdl_video_decoder_push (
            self->video_decoder, gst_buffer_ref (packet->data), packet->caps) &&
        !is_leading (self, packet))
      return FALSE;
  }
  return TRUE;
}

/* Pushes packets up to @end, whose frame is needed. If frames are identified by
 * counting, pushes more until the frame is output, which may be that of a later
 * packet. */
static gboolean
feed_for (SpdlVideoFrameReader *self, guint end)
{
  const SpdlPacket *packet = spdl_packets_get (self->packets, end);
  gboolean ok = feed_packet (self, end);

  while (ok && self->packets->is_counted && packet->is_wanted &&
         self->next < self->packets->all->len &&
         !spdl_packets_get (self->packets, self->next)->is_key)
    ok = feed_packet (self, self->next);
  return ok;
}

/* Playback */

static void
begin_at_packet (SpdlVideoFrameReader *self, guint start)
{
  const SpdlPacket *packet = spdl_packets_get (self->packets, start);

  self->begin = self->next = start;
  self->n_frames = 0;
  self->format = spdl_packet_get_format (packet->caps);
}

/* Returns whether it is cheaper to restart at a later key frame than to decode
 * all packets up to @i. */
static gboolean
is_jump (const SpdlVideoFrameReader *self, guint i)
{
  const SpdlPacket *packet = spdl_packets_get (self->packets, i);
  const SpdlPacket *first = spdl_packets_get (self->packets, self->begin);
  guint start;

  if (i < self->next)
    return FALSE;
  start = spdl_packets_find_start (self->packets, i, G_MAXUINT);
  return packet->segment != first->segment || start > self->next;
}

/* Decodes the frames @ranks from packet @start on, up to the first frame that
 * needs a jump. Returns the number of frames that were sent to the decoder. */
static guint
play_from (SpdlVideoFrameReader *self, guint start, const guint *ranks, guint n)
{
  gboolean ok = TRUE;
  guint i;

  begin_at_packet (self, start);
  for (i = 0; i < n && ok; i++) {
    const guint packet = spdl_packets_find (self->packets, ranks[i]);

    if (i > 0 && is_jump (self, packet))
      break;
    ok = feed_for (self, packet);
  }
  spdl_video_decoder_drain (self->video_decoder);
  return i;
}

/* Returns whether a frame is missing. Retries from earlier key frames, in case
 * @start is not a random access point. */
static gboolean
is_missing (SpdlVideoFrameReader *self, guint rank, guint start)
{
  const guint i = spdl_packets_find (self->packets, rank);

  while (spdl_packets_get (self->packets, i)->is_wanted &&
         !g_cancellable_is_cancelled (self->cancellable)) {
    const guint before = spdl_packets_find_start (self->packets, i, start);

    if (before >= start)
      return TRUE;
    start = before;
    play_from (self, start, &rank, 1);
  }
  return FALSE;
}

static void
set_missing (SpdlVideoFrameReader *self, guint rank, GError **error)
{
  g_autofree gchar *message =
      spdl_video_decoder_take_message (self->video_decoder);

  if (error && !*error)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "Corrupt video: at frame %u, %s reported %s", rank,
        spdl_video_decoder_get_name (self->video_decoder),
        message ? message : "that decoding failed");
}

gboolean
spdl_video_frame_reader_play (
    SpdlVideoFrameReader *self, const guint *ranks, guint n, GError **error)
{
  guint n_missing = 0;

  g_free (spdl_video_decoder_take_message (self->video_decoder));
  for (guint i = 0; i < n; i++)
    spdl_packets_get (
        self->packets, spdl_packets_find (self->packets, ranks[i]))
        ->is_wanted = TRUE;
  for (guint i = 0; i < n;) {
    const guint packet = spdl_packets_find (self->packets, ranks[i]);
    const guint start =
        spdl_packets_find_start (self->packets, packet, G_MAXUINT);
    const guint end = i + play_from (self, start, ranks + i, n - i);

    for (; i < end; i++) {
      if (!is_missing (self, ranks[i], start))
        continue;
      set_missing (self, ranks[i], error);
      if (!self->keep)
        return FALSE;
      n_missing++;
    }
    if (g_cancellable_is_cancelled (self->cancellable)) {
      g_clear_error (error);
      g_cancellable_set_error_if_cancelled (self->cancellable, error);
      return FALSE;
    }
  }
  return n_missing < n;
}
