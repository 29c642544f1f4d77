/* gst-spdl: the packets of sound in Ogg
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"
#include "spdlvorbis.h"

#define PAGE_HEADER 27
#define FLAG_CONTINUED 1
#define FLAG_BEGIN 2
#define FLAG_END 4

typedef struct {
  SpdlTrack *track;
  const guint8 *data;
  gsize size, at;

  guint32 serial;
  gboolean has_stream;
  gboolean ended;
  guint n_headers;  /* packets that are none of the sound; all known */
  guint n_packets;  /* that are complete */
  gsize headers[3]; /* where these end */
  gsize packet_at;  /* where the packet in hand begins */
  gboolean lost;    /* its beginning */
  SpdlVorbis vorbis;
  gint64 n;     /* samples so far */
  gint64 first; /* the time of the first; of no page yet: G_MININT64 */
  gint64 last;  /* of the end */
} Reader;

/* Pages */

typedef struct {
  guint flags;
  gint64 granule; /* -1: no packet ends here */
  guint32 serial;
  guint32 number;
  guint n_segments;
  const guint8 *segments;
  const guint8 *body;
  gsize size; /* of all */
} Page;

/* x^32 + x^26 + ... + 1, from the highest bit. */
static guint32
crc_of (const guint8 *p, gsize n, guint32 crc)
{
  static guint32 table[256];
  static gsize ready;

  if (g_once_init_enter (&ready)) {
    for (guint32 i = 0; i < 256; i++) {
      guint32 value = i << 24;

      for (guint bit = 0; bit < 8; bit++)
        value = value << 1 ^ (value >> 31 ? 0x04c11db7 : 0);
      table[i] = value;
    }
    g_once_init_leave (&ready, 1);
  }
  for (gsize i = 0; i < n; i++)
    crc = crc << 8 ^ table[crc >> 24 ^ p[i]];
  return crc;
}

static gboolean
is_whole (const guint8 *p, gsize size)
{
  static const guint8 zeros[4];
  guint32 crc = crc_of (p, 22, 0);

  crc = crc_of (zeros, 4, crc);
  return crc_of (p + 26, size - 26, crc) == spdl_read_32_le (p + 22);
}

static gboolean
read_page (const guint8 *p, gsize left, Page *page)
{
  gsize body = 0;

  if (left < PAGE_HEADER || memcmp (p, "OggS\0", 5) != 0)
    return FALSE;
  page->n_segments = p[26];
  if (left - PAGE_HEADER < page->n_segments)
    return FALSE;
  page->flags = p[5];
  page->granule = (gint64) (spdl_read_32_le (p + 6) |
                            (guint64) spdl_read_32_le (p + 10) << 32);
  page->serial = spdl_read_32_le (p + 14);
  page->number = spdl_read_32_le (p + 18);
  page->segments = p + PAGE_HEADER;
  page->body = page->segments + page->n_segments;
  for (guint i = 0; i < page->n_segments; i++)
    body += page->segments[i];
  page->size = PAGE_HEADER + page->n_segments + body;
  return page->size <= left && is_whole (p, page->size);
}

/* Streams */

static gboolean
begin_stream (Reader *self, const Page *page)
{
  const guint8 *p = page->body;
  const gsize n = page->n_segments > 0 ? page->segments[0] : 0;
  SpdlTrack *track = self->track;

  if (n >= 19 && memcmp (p, "OpusHead", 8) == 0) {
    spdl_track_set_opus (track, p, n);
    self->n_headers = 2;
  } else if (n >= 30 && memcmp (p, "\1vorbis", 7) == 0) {
    track->codec = SPDL_CODEC_VORBIS;
    track->name = "Vorbis";
    self->n_headers = 3;
  } else if (n >= 51 && memcmp (p, "\177FLAC", 5) == 0) {
    if (!spdl_track_set_flac (track, p + 17))
      return FALSE;
    self->n_headers = G_MAXUINT; /* until the first frame */
  } else {
    return FALSE;
  }
  self->serial = page->serial;
  return TRUE;
}

static GstBuffer *
dup_header (const Reader *self, guint i)
{
  const gsize from = i > 0 ? self->headers[i - 1] : 0;

  return gst_buffer_new_memdup (
      self->track->gathered->data + from, self->headers[i] - from);
}

/* All three headers are there. */
static gboolean
end_vorbis_headers (Reader *self)
{
  const guint8 *p = self->track->gathered->data;
  g_auto (GValue) headers = G_VALUE_INIT, header = G_VALUE_INIT;
  SpdlTrack *track = self->track;
  GstCaps *caps;

  if (!spdl_vorbis_init (&self->vorbis, p, self->headers[0],
          p + self->headers[1], self->headers[2] - self->headers[1]))
    return FALSE;
  track->rate = self->vorbis.rate;
  track->n_channels = self->vorbis.n_channels;
  g_value_init (&headers, GST_TYPE_ARRAY);
  g_value_init (&header, GST_TYPE_BUFFER);
  for (guint i = 0; i < 3; i++) {
    gst_value_take_buffer (&header, dup_header (self, i));
    gst_value_array_append_value (&headers, &header);
  }
  caps = gst_caps_new_simple ("audio/x-vorbis", "rate", G_TYPE_INT,
      (gint) track->rate, "channels", G_TYPE_INT, (gint) track->n_channels,
      NULL);
  gst_caps_set_value (caps, "streamheader", &headers);
  spdl_track_set_caps (track, caps);
  return TRUE;
}

static guint
count_samples (Reader *self, const guint8 *packet, gsize size)
{
  gboolean by_sample;
  guint64 number;

  switch (self->track->codec) {
    case SPDL_CODEC_OPUS:
      return spdl_track_count_opus (packet, size);
    case SPDL_CODEC_VORBIS:
      return spdl_vorbis_count (&self->vorbis, packet, size);
    default:
      return spdl_track_read_flac_frame (packet, size, &number, &by_sample);
  }
}

/* The packet in hand is complete. */
static gboolean
take_packet (Reader *self)
{
  GByteArray *gathered = self->track->gathered;
  const guint8 *packet = gathered->data + self->packet_at;
  const gsize size = gathered->len - self->packet_at;
  guint n;

  if (self->n_headers == G_MAXUINT && self->n_packets > 0 && size > 0 &&
      packet[0] == 0xff)
    self->n_headers = self->n_packets;
  if (self->n_packets < self->n_headers) {
    if (self->n_packets < G_N_ELEMENTS (self->headers))
      self->headers[self->n_packets] = gathered->len;
    self->n_packets++;
    return self->track->codec != SPDL_CODEC_VORBIS || self->n_packets < 3 ||
           end_vorbis_headers (self);
  }
  self->n_packets++;
  n = count_samples (self, packet, size);
  if (size > 0)
    spdl_track_add (self->track, self->packet_at, size, n);
  self->n += n;
  return TRUE;
}

static gboolean
take_page (Reader *self, const Page *page)
{
  GByteArray *gathered = self->track->gathered;
  const guint8 *p = page->body;
  const guint n_before = self->track->packets->len;

  if (!(page->flags & FLAG_CONTINUED) && gathered->len > self->packet_at) {
    self->track->damage = "a packet is cut off";
    g_byte_array_set_size (gathered, self->packet_at);
  }
  self->lost = page->flags & FLAG_CONTINUED && gathered->len == self->packet_at;
  for (guint i = 0; i < page->n_segments; i++) {
    if (!self->lost)
      g_byte_array_append (gathered, p, page->segments[i]);
    p += page->segments[i];
    if (page->segments[i] == 255)
      continue;
    if (!self->lost && !take_packet (self))
      return FALSE;
    self->packet_at = gathered->len;
    self->lost = FALSE;
  }
  if (page->granule >= 0 && self->track->packets->len > n_before) {
    if (self->first == G_MININT64)
      self->first = page->flags & FLAG_END ? 0 : page->granule - self->n;
    self->last = page->granule;
  }
  self->ended = page->flags & FLAG_END;
  return TRUE;
}

/* Returns FALSE where nobody would know what the packets are. */
static gboolean
read_pages (Reader *self)
{
  guint32 number = 0;
  Page page;

  while (!self->ended && self->at < self->size) {
    const gboolean ok =
        read_page (self->data + self->at, self->size - self->at, &page);

    if (!ok) {
      self->track->damage = "a page is damaged or cut off";
      return TRUE;
    }
    if (!self->has_stream && page.flags & FLAG_BEGIN) {
      self->has_stream = begin_stream (self, &page);
      number = page.number;
    }
    if (self->has_stream && page.serial == self->serial) {
      if (page.number != number++)
        self->track->damage = "a page is missing";
      if (!take_page (self, &page))
        return FALSE;
    }
    self->at += page.size;
  }
  if (!self->ended)
    self->track->damage = "it is cut off";
  return TRUE;
}

/* The times of pages say what is cut off at both ends. */
static void
set_length (Reader *self)
{
  SpdlTrack *track = self->track;
  const gint64 first = MAX (self->first, -self->n);

  if (self->first == G_MININT64)
    return;
  if (track->codec != SPDL_CODEC_OPUS && first < 0)
    track->skip = -first;
  if (self->ended && self->last - first < self->n && self->last > first)
    track->length = self->last - first > (gint64) track->skip
                        ? self->last - first - track->skip
                        : 0;
}

gboolean
spdl_track_read_ogg (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  Reader reader = {
    .track = self, .data = data, .size = size, .first = G_MININT64
  };

  if (size < PAGE_HEADER || memcmp (data, "OggS", 4) != 0)
    return FALSE;
  spdl_track_begin (self, NULL);
  self->name = "Ogg file";
  if (!read_pages (&reader))
    return spdl_track_fail (
        self, "its headers are not as they should be", error);
  if (!reader.has_stream) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND,
        "It is an Ogg file without Opus, Vorbis or FLAC%s%s",
        self->damage ? ": " : "", self->damage ? self->damage : "");
    return FALSE;
  }
  if (reader.ended && reader.size - reader.at >= PAGE_HEADER &&
      memcmp (data + reader.at, "OggS", 4) == 0)
    self->damage = "another stream follows the first one";
  if (self->packets->len == 0)
    return spdl_track_fail (
        self, self->damage ? self->damage : "it has no samples", error);
  self->data = self->gathered->data;
  set_length (&reader);
  return TRUE;
}
