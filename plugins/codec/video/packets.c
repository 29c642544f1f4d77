/* gst-spdl: packets and presentation order of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/packets.h"

#include <stdlib.h>
#include <string.h>

static const AVRational nanoseconds = { 1, GST_SECOND };

void
spdl_packets_init (SpdlPackets *self)
{
  *self = (SpdlPackets){ NULL };
  self->all = g_array_new (FALSE, TRUE, sizeof (SpdlPacket));
  self->by_rank = g_array_new (FALSE, FALSE, sizeof (guint));
  self->table.times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  self->codec = avcodec_parameters_alloc ();
  g_assert (self->codec);
}

void
spdl_packets_clear (SpdlPackets *self)
{
  for (guint i = 0; i < self->all->len; i++)
    av_packet_free (&spdl_packets_get (self, i)->data);
  g_array_unref (self->all);
  g_array_unref (self->by_rank);
  g_array_unref (self->table.times);
  avcodec_parameters_free (&self->codec);
}

void
spdl_packets_reset (SpdlPackets *self)
{
  for (guint i = 0; i < self->n_packets; i++)
    av_packet_unref (spdl_packets_get (self, i)->data);
  self->n_packets = 0;
}

gboolean
spdl_packets_begin (SpdlPackets *self, const AVCodecParameters *codec,
    const SpdlVideoLimits *limits)
{
  const AVCodecDescriptor *descriptor =
      avcodec_descriptor_get (codec->codec_id);

  spdl_packets_reset (self);
  if (avcodec_parameters_copy (self->codec, codec) < 0)
    return FALSE;
  self->format = spdl_packet_get_format (codec);
  self->can_reorder = descriptor && descriptor->props & AV_CODEC_PROP_REORDER;
  self->has_vops = spdl_vops_begin (&self->vops, codec) ||
                   codec->codec_id == AV_CODEC_ID_MPEG1VIDEO ||
                   codec->codec_id == AV_CODEC_ID_MPEG2VIDEO;
  spdl_frame_numbers_begin (&self->numbers, codec);
  self->is_counted = self->from_zero = self->hides_early = FALSE;
  self->is_reordered = FALSE;
  self->n_early = self->n_keys = self->first = 0;
  self->end = self->key_time = SPDL_PACKETS_NO_TIME;
  self->last_time = self->duration = 0;
  self->limits = *limits;
  self->n_shown = self->n_beyond = 0;
  self->table.orientation = 1;
  return TRUE;
}

/* Adding */

AVPacket *
spdl_packets_get_next (SpdlPackets *self)
{
  SpdlPacket *packet;

  if (self->n_packets == self->all->len)
    g_array_set_size (self->all, self->n_packets + 1);
  packet = spdl_packets_get (self, self->n_packets);
  if (!packet->data)
    packet->data = av_packet_alloc ();
  return packet->data;
}

/* Returns the presentation time. Frames outside of an edit list are not
 * shown. */
static gint64
find_time (SpdlPackets *self, const SpdlPacket *packet)
{
  if (packet->data->flags & AV_PKT_FLAG_DISCARD)
    return SPDL_PACKETS_NO_TIME;
  if (packet->pts != SPDL_PACKETS_NO_TIME)
    return packet->pts;
  if (self->hides_early && packet->dts == SPDL_PACKETS_NO_TIME) {
    self->n_early += self->n_early == self->n_packets;
    return -1;
  }
  self->is_counted = TRUE;
  return packet->dts != SPDL_PACKETS_NO_TIME ? packet->dts : self->n_packets;
}

static gint64
convert_time (gint64 time, AVRational time_base)
{
  return time == AV_NOPTS_VALUE ? SPDL_PACKETS_NO_TIME
                                : av_rescale_q (time, time_base, nanoseconds);
}

/* Corrects the flags and time of a packet that the container does not set, or
 * sets wrongly. */
static void
look_into (SpdlPackets *self, SpdlPacket *packet)
{
  const SpdlPacketFormat *format = &self->format;
  const AVPacket *data = packet->data;

  if (spdl_packet_is_hidden (format, data->data, data->size))
    packet->time = SPDL_PACKETS_NO_TIME;
  packet->is_key = packet->is_key &&
                   !spdl_packet_is_false_key (format, data->data, data->size);
}

static void
note_key (SpdlPackets *self, const SpdlPacket *packet)
{
  self->key_time = packet->pts;
  if (self->n_keys++ == 0)
    self->first = self->n_packets;
}

/* Marks the pictures that follow the first key frame but are shown before it:
 * in an open group of pictures they depend on frames before it, which a cut has
 * removed, so that no decoder shows them. Matroska has the time of the key
 * frame for those that are before 0. */
static void
lose_leading (SpdlPackets *self, SpdlPacket *packet)
{
  const AVPacket *data = packet->data;

  if (packet->is_key || self->n_keys != 1 ||
      self->key_time == SPDL_PACKETS_NO_TIME ||
      packet->time == SPDL_PACKETS_NO_TIME || packet->pts > self->key_time ||
      (packet->pts == SPDL_PACKETS_NO_TIME && !self->hides_early))
    return;
  packet->is_lost =
      spdl_packet_needs_earlier (&self->format, data->data, data->size);
  if (packet->is_lost)
    packet->time = SPDL_PACKETS_NO_TIME;
}

/* Returns whether enough packets were added. Without timestamps in MPEG-4 part
 * 2, the number of frames is known only at the end. */
static gboolean
is_enough (SpdlPackets *self, gint64 time)
{
  const SpdlVideoLimits *limits = &self->limits;

  if (self->is_counted && self->has_vops)
    return FALSE;
  /* The first packet's frame may be shown after others, but not before 0. */
  if (self->from_zero)
    time -= spdl_packets_get (self, 0)->time;
  if (GST_CLOCK_TIME_IS_VALID (limits->time) && time > 0 &&
      (GstClockTime) time > limits->time)
    self->n_beyond++;
  return (limits->n_frames > 0 &&
             self->n_shown >= limits->n_frames + SPDL_PACKETS_REORDER) ||
         self->n_beyond > SPDL_PACKETS_REORDER;
}

/* The video ends with its last frame. If that has no duration, the durations of
 * others do not give the end. */
static void
note_end (SpdlPackets *self, const SpdlPacket *packet, AVRational time_base)
{
  const gint64 duration = packet->data->duration;

  if (duration > 0)
    self->duration = av_rescale_q (duration, time_base, nanoseconds);
  if (self->n_shown > 0 && packet->time < self->last_time)
    return;
  self->last_time = packet->time;
  self->end =
      duration > 0 ? packet->time + self->duration : SPDL_PACKETS_NO_TIME;
}

gboolean
spdl_packets_add (SpdlPackets *self, AVRational time_base)
{
  SpdlPacket *packet = spdl_packets_get (self, self->n_packets);
  AVPacket *data = packet->data;

  packet->pts = convert_time (data->pts, time_base);
  packet->dts = convert_time (data->dts, time_base);
  packet->time = find_time (self, packet);
  packet->rank = G_MAXUINT;
  packet->is_key = (data->flags & AV_PKT_FLAG_KEY) != 0;
  packet->is_lost = packet->is_wanted = FALSE;
  look_into (self, packet);
  packet->is_doubtful = spdl_frame_numbers_take (
      &self->numbers, &self->format, data->data, data->size, packet->is_key);
  if (packet->is_key)
    note_key (self, packet);
  else if (self->numbers.was_broken && packet->pts < self->key_time)
    packet->is_doubtful = TRUE;
  lose_leading (self, packet);
  /* Frames have the number of their packet. */
  data->pts = data->dts = self->n_packets++;
  if (packet->time == SPDL_PACKETS_NO_TIME)
    return TRUE;
  self->is_reordered |= self->n_shown > 0 && packet->time < self->last_time;
  note_end (self, packet, time_base);
  self->n_shown++;
  return !is_enough (self, packet->time);
}

/* Presentation order */

static gint
compare_times (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const SpdlPackets *self = user_data;
  const guint i = *(const guint *) a, k = *(const guint *) b;
  const gint64 time = spdl_packets_get (self, i)->time;
  const gint64 other = spdl_packets_get (self, k)->time;

  if (time != other)
    return time < other ? -1 : 1;
  return i < k ? -1 : i > k;
}

/* Prepends the stream's header, which @first begins with, to a key frame.
 * Decoding may start at any key frame, but some files have the header only
 * before the first one. */
static void
add_header (SpdlPacket *packet, const AVPacket *first, gsize size)
{
  AVPacket *data = packet->data;
  const gint old = data->size;

  if (av_grow_packet (data, size) < 0)
    return;
  memmove (data->data + size, data->data, old);
  memcpy (data->data, first->data, size);
}

/* The header of the stream is at the beginning of @first. */
typedef struct {
  const AVPacket *first;
  gsize size;
} Header;

static void
look_for_vops (SpdlPackets *self, SpdlPacket *packet, Header *header)
{
  const AVPacket *data = packet->data;
  gsize size = 0;

  packet->vop =
      self->format.codec == AV_CODEC_ID_MPEG4
          ? spdl_vops_take (&self->vops, data->data, data->size, &size)
          : spdl_packet_get_vop (&self->format, data->data, data->size);
  if (packet->vop == SPDL_VOP_NONE)
    packet->time = SPDL_PACKETS_NO_TIME;
  if (packet->vop != SPDL_VOP_WHOLE && packet->vop != SPDL_VOP_UNKNOWN)
    packet->is_key = FALSE;
  if (size > 0 && header->size == 0)
    *header = (Header){ data, size };
  else if (size == 0 && packet->is_key && header->size > 0)
    add_header (packet, header->first, header->size);
}

static void
show_packet (SpdlPackets *self, guint i)
{
  if (i < self->n_packets)
    g_array_append_val (self->by_rank, i);
}

/* Sorts by VOP types. A reference frame is shown when the next one has arrived,
 * a B frame immediately. B frames before the second reference frame cannot be
 * decoded. */
static void
sort_by_vops (SpdlPackets *self)
{
  Header header = { NULL, 0 };
  guint last = G_MAXUINT, n_references = 0;

  for (guint i = 0; i < self->n_packets; i++) {
    SpdlPacket *packet = spdl_packets_get (self, i);

    look_for_vops (self, packet, &header);
    if (packet->vop == SPDL_VOP_BETWEEN && n_references < 2)
      packet->time = SPDL_PACKETS_NO_TIME;
    if (packet->time == SPDL_PACKETS_NO_TIME)
      continue;
    if (packet->vop == SPDL_VOP_BETWEEN) {
      show_packet (self, i);
      continue;
    }
    show_packet (self, last);
    last = i;
    n_references++;
  }
  show_packet (self, last);
}

static void
sort_by_time (SpdlPackets *self)
{
  for (guint i = 0; i < self->n_packets; i++)
    if (spdl_packets_get (self, i)->time != SPDL_PACKETS_NO_TIME)
      g_array_append_val (self->by_rank, i);
  /* Without timestamps, presentation order is decoding order. */
  if (!self->is_counted)
    g_array_sort_with_data (self->by_rank, compare_times, self);
}

static gint
compare_clocks (gconstpointer a, gconstpointer b)
{
  const gint64 time = *(const gint64 *) a, other = *(const gint64 *) b;

  return time < other ? -1 : time > other;
}

/* Gives the times of decoding to the frames in presentation order, since some
 * have no timestamp. */
static void
use_decoding_times (SpdlPackets *self, gint64 *times, guint n)
{
  for (guint i = 0; i < n; i++) {
    const SpdlPacket *packet =
        spdl_packets_get (self, spdl_packets_find (self, i));

    if (packet->dts != SPDL_PACKETS_NO_TIME)
      times[i] = packet->dts;
  }
  qsort (times, n, sizeof *times, compare_clocks);
  if (n > 0 && self->end != SPDL_PACKETS_NO_TIME)
    self->end = times[n - 1] + (self->end - self->last_time);
}

/* Sets the times of the shown packets in presentation order. They begin with 0
 * if the clock starts anywhere, or before 0. */
static void
set_times (SpdlPackets *self)
{
  const guint n = self->by_rank->len;
  gint64 *times, first = 0;

  g_array_set_size (self->table.times, n);
  times = (gint64 *) self->table.times->data;
  for (guint i = 0; i < n; i++) {
    SpdlPacket *packet = spdl_packets_get (self, spdl_packets_find (self, i));

    packet->rank = i;
    times[i] = packet->time;
  }
  if (self->is_counted)
    use_decoding_times (self, times, n);
  if (n > 0 && (self->from_zero || times[0] < 0))
    first = times[0];
  for (guint i = 0; i < n; i++)
    times[i] -= first;
  self->table.end = self->end == SPDL_PACKETS_NO_TIME
                        ? GST_CLOCK_TIME_NONE
                        : (GstClockTime) MAX (self->end - first, 0);
}

/* Gives times to the first packets, with the duration of the one before which
 * they are shown. If frames are reordered, only the decoder knows how. */
static void
set_early_times (SpdlPackets *self)
{
  const gint64 first = self->n_early < self->n_packets
                           ? spdl_packets_get (self, self->n_early)->pts
                           : 0;
  const gint64 duration = MAX (self->duration, 1);

  for (guint i = 0; i < self->n_early; i++) {
    SpdlPacket *packet = spdl_packets_get (self, i);

    packet->pts = packet->dts = first - (self->n_early - i) * duration;
    if (packet->time != SPDL_PACKETS_NO_TIME)
      packet->time = packet->pts;
  }
  self->is_counted |= self->n_early > 0 && self->is_reordered;
}

/* Marks the packets before the first key frame, which a cut may leave. Without
 * any key frame, decoding may begin anywhere. */
static void
lose_first (SpdlPackets *self)
{
  for (guint i = 0; i < self->first; i++) {
    SpdlPacket *packet = spdl_packets_get (self, i);

    packet->is_lost = TRUE;
    packet->time = SPDL_PACKETS_NO_TIME;
  }
}

void
spdl_packets_sort (SpdlPackets *self)
{
  lose_first (self);
  set_early_times (self);
  g_array_set_size (self->by_rank, 0);
  if (self->is_counted && self->has_vops)
    sort_by_vops (self);
  else
    sort_by_time (self);
  set_times (self);
}

/* A key frame that is shown after the packet is not suitable: frames between
 * them depend on frames before the key frame. */
guint
spdl_packets_find_start (const SpdlPackets *self, guint i, guint before)
{
  const SpdlPacket *packet = spdl_packets_get (self, i);
  guint first = i;

  /* The frames before a key frame of an open group would not be counted. */
  if (self->is_counted && !self->has_vops && self->can_reorder)
    return self->first;

  for (guint k = i + 1; k-- > 0;) {
    const SpdlPacket *key = spdl_packets_get (self, k);

    first = k;
    if (k < before && key->is_key &&
        (self->is_counted ? key->rank <= packet->rank
                          : key->pts <= packet->pts))
      return k;
  }
  return first;
}
