/* gst-spdl: the packets of Opus
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"

#define HEAD 19
#define RATE 48000

/* The head that a decoder gets: it decodes at the full rate, and leaves the
 * samples at the front to us. */
static GstBuffer *
make_head (const guint8 *head, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_memdup (head, size);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  map.data[10] = map.data[11] = 0;
  spdl_write_32_le (map.data + 12, RATE);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Decoders take it from one or the other. */
static void
set_headers (GstCaps *caps, GstBuffer *head)
{
  static const guint8 tags[] = "OpusTags\0\0\0\0\0\0\0";
  g_auto (GValue) headers = G_VALUE_INIT, header = G_VALUE_INIT;

  g_value_init (&headers, GST_TYPE_ARRAY);
  g_value_init (&header, GST_TYPE_BUFFER);
  gst_value_set_buffer (&header, head);
  gst_value_array_append_value (&headers, &header);
  gst_value_take_buffer (&header, gst_buffer_new_memdup (tags, sizeof tags));
  gst_value_array_append_value (&headers, &header);
  gst_caps_set_value (caps, "streamheader", &headers);
  gst_caps_set_simple (caps, "codec_data", GST_TYPE_BUFFER, head, NULL);
}

void
spdl_track_set_opus (SpdlTrack *self, const guint8 *head, gsize size)
{
  const gboolean mapped = size > HEAD + 1 && head[18] > 0;
  GstBuffer *own = make_head (head, size);
  GstCaps *caps;

  self->codec = SPDL_CODEC_OPUS;
  self->name = "Opus";
  self->rate = RATE;
  self->n_channels = head[9];
  self->skip = spdl_read_16_le (head + 10);
  caps = gst_caps_new_simple ("audio/x-opus", "channel-mapping-family",
      G_TYPE_INT, head[18], "rate", G_TYPE_INT, RATE, "channels", G_TYPE_INT,
      (gint) self->n_channels, "stream-count", G_TYPE_INT,
      mapped ? head[19] : 1, "coupled-count", G_TYPE_INT,
      mapped ? head[20] : head[9] == 2, NULL);
  set_headers (caps, own);
  gst_buffer_unref (own);
  spdl_track_set_caps (self, caps);
}

guint
spdl_track_count_opus (const guint8 *packet, gsize size)
{
  static const guint16 lengths[] = { 480, 960, 1920, 2880 };
  guint config, n, frames;

  if (size == 0)
    return 0;
  config = packet[0] >> 3;
  if (config < 12)
    n = lengths[config & 3];
  else if (config < 16)
    n = lengths[config & 1];
  else
    n = 120u << (config & 3);
  switch (packet[0] & 3) {
    case 0:
      frames = 1;
      break;
    case 3:
      frames = size > 1 ? packet[1] & 0x3f : 0;
      break;
    default:
      frames = 2;
  }
  return n * frames;
}
