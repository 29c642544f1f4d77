/* gst-spdl: the packets of a sound in a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

/* Frames of MP3 use at most so many bytes of those before, and what the two
 * before them left in the decoder. */
#define MP3_RESERVOIR 511
#define MP3_HEADERS 42

void
spdl_track_init (SpdlTrack *self)
{
  memset (self, 0, sizeof *self);
  self->packets = g_array_new (FALSE, FALSE, sizeof (SpdlPacket));
  self->gathered = g_byte_array_new ();
}

void
spdl_track_clear (SpdlTrack *self)
{
  gst_clear_caps (&self->caps);
  g_array_unref (self->packets);
  g_byte_array_unref (self->gathered);
}

void
spdl_track_begin (SpdlTrack *self, const guint8 *data)
{
  g_array_set_size (self->packets, 0);
  g_byte_array_set_size (self->gathered, 0);
  self->codec = SPDL_CODEC_NONE;
  self->name = NULL;
  self->rate = self->n_channels = 0;
  self->lead = SPDL_LEAD_ALL;
  self->joins = FALSE;
  self->data = data;
  self->skip = 0;
  self->length = G_MAXUINT64;
  self->damage = NULL;
}

void
spdl_track_add (SpdlTrack *self, gsize at, gsize size, guint n)
{
  const SpdlPacket packet = { at, size, n };

  g_array_append_val (self->packets, packet);
}

void
spdl_track_set_caps (SpdlTrack *self, GstCaps *caps)
{
  if (self->caps && gst_caps_is_equal (self->caps, caps)) {
    gst_caps_unref (caps);
    return;
  }
  gst_clear_caps (&self->caps);
  self->caps = caps;
}

gboolean
spdl_track_fail (const SpdlTrack *self, const gchar *what, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken %s: %s", self->name, what);
  return FALSE;
}

gboolean
spdl_track_read (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  static gboolean (*const readers[]) (SpdlTrack *, const guint8 *, gsize,
      GError **) = { spdl_track_read_flac, spdl_track_read_ogg,
    spdl_track_read_mp4, spdl_track_read_adts, spdl_track_read_mpeg };
  GError *reason = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (readers); i++) {
    if (readers[i](self, data, size, &reason))
      return TRUE;
    if (reason) {
      g_propagate_error (error, reason);
      return FALSE;
    }
  }
  return FALSE;
}

guint64
spdl_track_count (const SpdlTrack *self)
{
  guint64 n = 0;

  for (guint i = 0; i < self->packets->len; i++)
    n += g_array_index (self->packets, SpdlPacket, i).n;
  return n;
}

/* How many packets before packet @i a decoder has to have seen. */
static guint
count_lead (const SpdlTrack *self, guint i)
{
  const guint overlap = 2;
  guint n = 0;

  if (self->lead == SPDL_LEAD_ALL)
    return i;
  if (self->lead != SPDL_LEAD_MP3)
    return MIN (i, self->lead == SPDL_LEAD_ONE ? 1 : 0);
  n = MIN (i, overlap);
  for (gsize size = 0; n < i && size < MP3_RESERVOIR; n++) {
    const guint32 whole =
        g_array_index (self->packets, SpdlPacket, i - n - 1).size;

    size += whole > MP3_HEADERS ? whole - MP3_HEADERS : 0;
  }
  return n;
}

guint
spdl_track_find (const SpdlTrack *self, guint64 from, guint64 *position)
{
  guint64 at = 0;
  guint i = 0;

  while (i < self->packets->len) {
    const guint32 n = g_array_index (self->packets, SpdlPacket, i).n;

    if (at + n > from)
      break;
    at += n;
    i++;
  }
  for (guint lead = count_lead (self, i); lead > 0; lead--)
    at -= g_array_index (self->packets, SpdlPacket, --i).n;
  *position = at;
  return i;
}

gsize
spdl_track_skip_tags (const guint8 *data, gsize size)
{
  gsize at = 0;

  while (size - at >= 10 && memcmp (data + at, "ID3", 3) == 0) {
    const guint8 *tag = data + at;
    const gsize length =
        10 +
        ((gsize) (tag[6] & 0x7f) << 21 | (gsize) (tag[7] & 0x7f) << 14 |
            (gsize) (tag[8] & 0x7f) << 7 | (gsize) (tag[9] & 0x7f)) +
        (tag[5] & 0x10 ? 10 : 0);

    at += MIN (length, size - at);
  }
  return at;
}
