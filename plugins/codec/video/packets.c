/* gst-spdl: packets and presentation order of a video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/packets.h"

#include <stdlib.h>

static void
clear_packet (gpointer data)
{
  gst_clear_buffer (&((SpdlPacket *) data)->data);
}

void
spdl_packets_init (SpdlPackets *self)
{
  self->all = g_array_new (FALSE, TRUE, sizeof (SpdlPacket));
  g_array_set_clear_func (self->all, clear_packet);
  self->by_rank = g_array_new (FALSE, FALSE, sizeof (guint));
  self->caps = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_caps_unref);
  spdl_packets_reset (self);
}

void
spdl_packets_clear (SpdlPackets *self)
{
  g_array_unref (self->all);
  g_array_unref (self->by_rank);
  g_ptr_array_unref (self->caps);
}

void
spdl_packets_reset (SpdlPackets *self)
{
  g_array_set_size (self->all, 0);
  g_array_set_size (self->by_rank, 0);
  g_ptr_array_set_size (self->caps, 0);
  self->orientation = 1;
  self->segment = 0;
  self->is_counted = self->from_zero = FALSE;
  self->end = GST_CLOCK_TIME_NONE;
  self->last_time = 0;
  self->format = (SpdlPacketFormat){ SPDL_CODEC_OTHER };
  self->has_vops = FALSE;
  self->enough_frames = 0;
  self->enough_time = GST_CLOCK_TIME_NONE;
  self->n_shown = self->n_beyond = 0;
  self->first_key = GST_CLOCK_TIME_NONE;
}

void
spdl_packets_set_caps (SpdlPackets *self, GstCaps *caps)
{
  const guint n = self->caps->len;

  self->format = spdl_packet_get_format (caps);
  self->has_vops = spdl_vops_begin (&self->vops, caps);
  if (n == 0 ||
      !gst_caps_is_equal (g_ptr_array_index (self->caps, n - 1), caps))
    g_ptr_array_add (self->caps, gst_caps_ref (caps));
}

/* Adding */

/* Returns the presentation time. An edit list is represented by segments;
 * frames that start outside of the segment are not shown. */
static GstClockTime
find_time (SpdlPackets *self, const GstBuffer *data, const GstSegment *segment)
{
  GstClockTime pts = GST_BUFFER_PTS (data);

  if (!GST_CLOCK_TIME_IS_VALID (pts)) {
    self->is_counted = TRUE;
    pts = GST_BUFFER_DTS (data);
  }
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return self->all->len;
  if (segment->format != GST_FORMAT_TIME)
    return pts;
  if (pts < segment->start ||
      (GST_CLOCK_TIME_IS_VALID (segment->stop) && pts >= segment->stop))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts);
}

/* Corrects the flags and time of a packet that the container does not set, or
 * sets wrongly. */
static void
look_into (SpdlPackets *self, SpdlPacket *packet)
{
  const SpdlPacketFormat *format = &self->format;
  GstMapInfo map;

  if (!packet->is_key && format->codec != SPDL_CODEC_VP8 &&
      format->codec != SPDL_CODEC_VP9)
    return;
  if (!gst_buffer_map (packet->data, &map, GST_MAP_READ))
    return;
  if (spdl_packet_is_hidden (format, map.data, map.size))
    packet->time = GST_CLOCK_TIME_NONE;
  packet->is_key =
      packet->is_key && !spdl_packet_is_false_key (format, map.data, map.size);
  gst_buffer_unmap (packet->data, &map);
}

/* Marks the pictures that follow the first key frame but are shown before it:
 * in an open group of pictures they depend on frames before it, which a cut has
 * removed, so that no decoder shows them. Matroska has the time of the key
 * frame for those that are before 0. */
static void
lose_leading (SpdlPackets *self, SpdlPacket *packet)
{
  GstMapInfo map;

  if (self->all->len == 0) {
    self->first_key = packet->is_key ? packet->pts : GST_CLOCK_TIME_NONE;
    return;
  }
  if (packet->is_key)
    self->first_key = GST_CLOCK_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (self->first_key) ||
      !GST_CLOCK_TIME_IS_VALID (packet->pts) || packet->pts > self->first_key ||
      !gst_buffer_map (packet->data, &map, GST_MAP_READ))
    return;
  packet->is_lost =
      spdl_packet_needs_earlier (&self->format, map.data, map.size);
  if (packet->is_lost)
    packet->time = GST_CLOCK_TIME_NONE;
  gst_buffer_unmap (packet->data, &map);
}

/* Returns whether enough packets were added. Without timestamps in MPEG-4 part
 * 2, the number of frames is known only at the end. */
static gboolean
is_enough (SpdlPackets *self, GstClockTime time)
{
  if (self->is_counted && self->has_vops)
    return FALSE;
  /* The first packet's frame may be shown after others, but not before 0. */
  if (self->from_zero)
    time -= MIN (spdl_packets_get (self, 0)->time, time);
  if (GST_CLOCK_TIME_IS_VALID (self->enough_time) && time > self->enough_time)
    self->n_beyond++;
  return (self->enough_frames > 0 &&
             self->n_shown >= self->enough_frames + SPDL_PACKETS_REORDER) ||
         self->n_beyond > SPDL_PACKETS_REORDER;
}

/* The video ends with its last frame. If that has no duration, the durations of
 * others do not give the end. */
static void
note_end (SpdlPackets *self, const SpdlPacket *packet)
{
  const GstClockTime duration = GST_BUFFER_DURATION (packet->data);

  if (self->n_shown > 0 && packet->time < self->last_time)
    return;
  self->last_time = packet->time;
  self->end = GST_CLOCK_TIME_IS_VALID (duration) ? packet->time + duration
                                                 : GST_CLOCK_TIME_NONE;
}

gboolean
spdl_packets_add (SpdlPackets *self, GstBuffer *data, const GstSegment *segment)
{
  SpdlPacket packet = { .data = data,
    .caps = g_ptr_array_index (self->caps, self->caps->len - 1),
    .pts = GST_BUFFER_PTS (data),
    .time = find_time (self, data, segment),
    .rank = G_MAXUINT,
    .segment = self->segment,
    .is_key = !GST_BUFFER_FLAG_IS_SET (data, GST_BUFFER_FLAG_DELTA_UNIT) };

  look_into (self, &packet);
  lose_leading (self, &packet);
  if (GST_BUFFER_FLAG_IS_SET (data, GST_BUFFER_FLAG_DECODE_ONLY))
    packet.time = GST_CLOCK_TIME_NONE;
  g_array_append_val (self->all, packet);
  if (!GST_CLOCK_TIME_IS_VALID (packet.time))
    return TRUE;
  note_end (self, &packet);
  self->n_shown++;
  return !is_enough (self, packet.time);
}

/* Presentation order */

static gint
compare_times (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const SpdlPackets *self = user_data;
  const guint i = *(const guint *) a, k = *(const guint *) b;
  const GstClockTime time = spdl_packets_get (self, i)->time;
  const GstClockTime other = spdl_packets_get (self, k)->time;

  if (time != other)
    return time < other ? -1 : 1;
  return i < k ? -1 : i > k;
}

/* Prepends the stream's header to a key frame. Decoding may start at any key
 * frame, but some files have the header only before the first one. */
static void
add_header (SpdlPacket *packet, GstBuffer *header)
{
  GstBuffer *data = gst_buffer_append (
      gst_buffer_copy (header), gst_buffer_ref (packet->data));

  gst_buffer_copy_into (data, packet->data, GST_BUFFER_COPY_METADATA, 0, -1);
  gst_buffer_unref (packet->data);
  packet->data = data;
}

static void
look_for_vops (SpdlPackets *self, SpdlPacket *packet, GstBuffer **header)
{
  gsize header_size;
  GstMapInfo map;

  if (!gst_buffer_map (packet->data, &map, GST_MAP_READ))
    return;
  packet->vop = spdl_vops_take (&self->vops, map.data, map.size, &header_size);
  gst_buffer_unmap (packet->data, &map);
  if (packet->vop == SPDL_VOP_NONE)
    packet->time = GST_CLOCK_TIME_NONE;
  if (packet->vop != SPDL_VOP_WHOLE && packet->vop != SPDL_VOP_UNKNOWN)
    packet->is_key = FALSE;
  if (header_size > 0 && !*header)
    *header = gst_buffer_copy_region (
        packet->data, GST_BUFFER_COPY_MEMORY, 0, header_size);
  else if (header_size == 0 && packet->is_key && *header)
    add_header (packet, *header);
}

static void
show_packet (SpdlPackets *self, guint i)
{
  if (i < self->all->len)
    g_array_append_val (self->by_rank, i);
}

/* Sorts by VOP types. A reference frame is shown when the next one has arrived,
 * a B frame immediately. B frames before the second reference frame cannot be
 * decoded. */
static void
sort_by_vops (SpdlPackets *self)
{
  GstBuffer *header = NULL;
  guint last = G_MAXUINT, n_references = 0;

  for (guint i = 0; i < self->all->len; i++) {
    SpdlPacket *packet = spdl_packets_get (self, i);

    look_for_vops (self, packet, &header);
    if (packet->vop == SPDL_VOP_BETWEEN && n_references < 2)
      packet->time = GST_CLOCK_TIME_NONE;
    if (!GST_CLOCK_TIME_IS_VALID (packet->time))
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
  gst_clear_buffer (&header);
}

static void
sort_by_time (SpdlPackets *self)
{
  for (guint i = 0; i < self->all->len; i++)
    if (GST_CLOCK_TIME_IS_VALID (spdl_packets_get (self, i)->time))
      g_array_append_val (self->by_rank, i);
  /* Without timestamps, presentation order is decoding order. */
  if (!self->is_counted)
    g_array_sort_with_data (self->by_rank, compare_times, self);
}

static gint
compare_clocks (gconstpointer a, gconstpointer b)
{
  const GstClockTime time = *(const GstClockTime *) a;
  const GstClockTime other = *(const GstClockTime *) b;

  return time < other ? -1 : time > other;
}

/* Gives the times of the shown packets to these packets in presentation order.
 * The times of frames without a timestamp are those of decoding. */
static void
sort_times (SpdlPackets *self)
{
  const guint n = self->by_rank->len;
  g_autofree GstClockTime *times = g_new (GstClockTime, n);

  for (guint i = 0; i < n; i++)
    times[i] = spdl_packets_get (self, spdl_packets_find (self, i))->time;
  qsort (times, n, sizeof *times, compare_clocks);
  for (guint i = 0; i < n; i++)
    spdl_packets_get (self, spdl_packets_find (self, i))->time = times[i];
}

/* Lets the times begin with 0. */
static void
rebase_times (SpdlPackets *self)
{
  const guint n = self->by_rank->len;
  const GstClockTime first =
      n > 0 ? spdl_packets_get (self, spdl_packets_find (self, 0))->time : 0;

  for (guint i = 0; i < n; i++)
    spdl_packets_get (self, spdl_packets_find (self, i))->time -= first;
  if (GST_CLOCK_TIME_IS_VALID (self->end))
    self->end -= MIN (first, self->end);
}

void
spdl_packets_sort (SpdlPackets *self)
{
  g_array_set_size (self->by_rank, 0);
  if (self->is_counted && self->has_vops)
    sort_by_vops (self);
  else
    sort_by_time (self);
  if (self->is_counted)
    sort_times (self);
  if (self->from_zero)
    rebase_times (self);
  for (guint i = 0; i < self->by_rank->len; i++)
    spdl_packets_get (self, spdl_packets_find (self, i))->rank = i;
}

/* A key frame that is shown after the packet is not suitable: frames between
 * them depend on frames before the key frame. */
guint
spdl_packets_find_start (const SpdlPackets *self, guint i, guint before)
{
  const SpdlPacket *packet = spdl_packets_get (self, i);
  guint first = i;

  for (guint k = i + 1; k-- > 0;) {
    const SpdlPacket *key = spdl_packets_get (self, k);

    if (key->segment != packet->segment)
      break;
    first = k;
    if (k < before && key->is_key &&
        (self->is_counted ? key->rank <= packet->rank
                          : GST_CLOCK_TIME_IS_VALID (key->pts) &&
                                key->pts <= packet->pts))
      return k;
  }
  return first;
}
