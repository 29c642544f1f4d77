/* gst-spdl: the packets of sound in MP4
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"

#define ADTS_HEADER 7
#define ADTS_MAX_SIZE 8191

typedef struct {
  const guint8 *data; /* NULL: it is not there */
  gsize size;
} Box;

typedef struct {
  SpdlTrack *track;
  const guint8 *data;
  gsize size;
  guint32 movie_scale;
  guint32 scale;
  gint64 edit_from;    /* in `scale`; 0: none */
  guint64 edit_length; /* in `movie_scale`; 0: all */
  Box sizes, chunks, offsets, times;
  gboolean long_offsets;
  guint per_packet; /* samples where the codec says so; 0: as in the times */
  guint8 adts[ADTS_HEADER]; /* for each packet, without its size; 0: none */
} Reader;

#define TYPE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (d))

/* The next box in @in, of which that is then left; FALSE: there is none. */
static gboolean
take_box (Box *in, guint32 *type, Box *box)
{
  guint64 size;
  gsize header = 8;

  if (in->size < 8)
    return FALSE;
  size = spdl_read_32_be (in->data);
  *type = spdl_read_32_be (in->data + 4);
  if (size == 1 && in->size >= 16) {
    size = spdl_read_64_be (in->data + 8);
    header = 16;
  } else if (size == 0) {
    size = in->size;
  }
  if (size < header || size > in->size)
    return FALSE;
  *box = (Box){ in->data + header, size - header };
  in->data += size;
  in->size -= size;
  return TRUE;
}

static Box
find_box (Box in, guint32 wanted)
{
  guint32 type;
  Box box;

  while (take_box (&in, &type, &box))
    if (type == wanted)
      return box;
  return (Box){ NULL, 0 };
}

/* What lies in it from @at on. */
static Box
skip (Box box, gsize at)
{
  return box.size < at ? (Box){ NULL, 0 }
                       : (Box){ box.data + at, box.size - at };
}

/* Entries of @size of a table that has a number of them at @at; those that are
 * there. */
static guint
count_entries (Box box, gsize at, gsize size)
{
  if (!box.data || box.size < at + 4)
    return 0;
  return MIN (spdl_read_32_be (box.data + at), (box.size - at - 4) / size);
}

/* What it is of */

/* A descriptor of MPEG-4 of @tag; its size is in 7 bits a byte. */
static Box
find_descriptor (Box in, guint8 wanted)
{
  while (in.size >= 2) {
    const guint8 tag = in.data[0];
    gsize at = 1, size = 0;

    do {
      size = size << 7 | (in.data[at] & 0x7f);
    } while (in.data[at++] & 0x80 && at < in.size && at < 5);
    if (size > in.size - at)
      break;
    if (tag == wanted)
      return (Box){ in.data + at, size };
    in = skip (in, at + size);
  }
  return (Box){ NULL, 0 };
}

/* Plain AAC, of which ADTS can say all: several of its packets may go to a
 * decoder as one then, since each has a header. */
static gboolean
make_adts (Reader *self, Box info)
{
  const guint8 *p = info.data;
  const guint rate = (p[0] & 7) << 1 | p[1] >> 7, n_channels = p[1] >> 3 & 15;
  const gboolean plain =
      info.size == 2 ||
      (info.size == 5 && spdl_read_16_be (p + 2) == 0x56e5 && p[4] == 0);

  if (!plain || p[0] >> 3 != 2 || rate > 12 || n_channels < 1 ||
      n_channels > 7 || (p[1] & 7) != 0)
    return FALSE;
  self->adts[0] = 0xff;
  self->adts[1] = 0xf1;
  self->adts[2] = 1 << 6 | rate << 2 | n_channels >> 2;
  self->adts[3] = (n_channels & 3) << 6;
  self->adts[5] = 0x1f;
  self->adts[6] = 0xfc;
  return TRUE;
}

static gboolean
set_mpeg (Reader *self, Box esds, GError **error)
{
  Box es = find_descriptor (skip (esds, 4), 3);
  gsize at = 3;
  GstBuffer *data;

  if (es.size >= at)
    at += (es.data[2] & 0x80 ? 2 : 0) + (es.data[2] & 0x20 ? 2 : 0);
  if (es.size > at && es.data[2] & 0x40)
    at += 1 + es.data[at];
  const Box config = find_descriptor (skip (es, at), 4);
  const Box info = find_descriptor (skip (config, 13), 5);
  if (config.size >= 13 && (config.data[0] == 0x6b || config.data[0] == 0x69))
    return spdl_track_fail (self->track, "MP3 in it is not taken", error);
  if (info.size < 2)
    return spdl_track_fail (self->track, "its AAC has no setup", error);
  self->track->codec = SPDL_CODEC_AAC;
  self->per_packet = 1024;
  self->track->joins = make_adts (self, info);
  if (self->track->joins) {
    spdl_track_set_caps (self->track,
        gst_caps_new_simple ("audio/mpeg", "mpegversion", G_TYPE_INT, 4,
            "stream-format", G_TYPE_STRING, "adts", "framed", G_TYPE_BOOLEAN,
            TRUE, "rate", G_TYPE_INT, (gint) self->track->rate, "channels",
            G_TYPE_INT, (gint) self->track->n_channels, NULL));
    return TRUE;
  }
  data = gst_buffer_new_memdup (info.data, info.size);
  spdl_track_set_caps (self->track,
      gst_caps_new_simple ("audio/mpeg", "mpegversion", G_TYPE_INT, 4,
          "stream-format", G_TYPE_STRING, "raw", "framed", G_TYPE_BOOLEAN, TRUE,
          "rate", G_TYPE_INT, (gint) self->track->rate, "channels", G_TYPE_INT,
          (gint) self->track->n_channels, "codec_data", GST_TYPE_BUFFER, data,
          NULL));
  gst_buffer_unref (data);
  return TRUE;
}

/* With a head as Ogg has it, of which the numbers are the other way round. */
static gboolean
set_opus (Reader *self, Box box, GError **error)
{
  guint8 head[19 + 2 + 255] = "OpusHead\1";
  const gsize n = MIN (box.size > 1 ? box.size - 1 : 0, sizeof head - 9);

  if (n < 10)
    return spdl_track_fail (self->track, "its Opus has no setup", error);
  memcpy (head + 9, box.data + 1, n);
  for (guint i = 0; i < 2; i++) {
    head[10 + i] = box.data[3 - i];
    head[16 + i] = box.data[9 - i];
  }
  spdl_track_set_opus (self->track, head, 9 + n);
  self->track->skip = 0; /* an edit says it */
  return TRUE;
}

static gboolean
set_alac (Reader *self, Box box, GError **error)
{
  guint8 cookie[36] = { 0, 0, 0, 36, 'a', 'l', 'a', 'c' };
  GstBuffer *data;

  if (box.size < 28)
    return spdl_track_fail (self->track, "its ALAC has no setup", error);
  memcpy (cookie + 8, box.data, 28);
  self->track->codec = SPDL_CODEC_ALAC;
  self->track->lead = SPDL_LEAD_NONE;
  data = gst_buffer_new_memdup (cookie, sizeof cookie);
  spdl_track_set_caps (
      self->track, gst_caps_new_simple ("audio/x-alac", "rate", G_TYPE_INT,
                       (gint) self->track->rate, "channels", G_TYPE_INT,
                       (gint) self->track->n_channels, "codec_data",
                       GST_TYPE_BUFFER, data, NULL));
  gst_buffer_unref (data);
  return TRUE;
}

static gboolean
set_flac (Reader *self, Box box, GError **error)
{
  if (box.size < 8 + 34 || !spdl_track_set_flac (self->track, box.data + 8))
    return spdl_track_fail (self->track, "its FLAC has no setup", error);
  return TRUE;
}

/* The entry of a table of what the samples are; QuickTime's are longer. */
static gboolean
set_codec (Reader *self, Box stsd, GError **error)
{
  SpdlTrack *track = self->track;
  Box entries = skip (stsd, 8), entry;
  guint32 type;
  Box parts;

  if (!entries.data || !take_box (&entries, &type, &entry) || entry.size < 28)
    return spdl_track_fail (track, "it does not say what is in it", error);
  const guint version = spdl_read_16_be (entry.data + 8);
  track->n_channels = spdl_read_16_be (entry.data + 16);
  track->rate = spdl_read_16_be (entry.data + 24);
  if (track->rate == 0)
    track->rate = self->scale;
  parts = skip (entry, version == 1 ? 44 : version == 2 ? 64 : 28);
  if (type == TYPE ('m', 'p', '4', 'a')) {
    Box esds = find_box (parts, TYPE ('e', 's', 'd', 's'));
    const Box wave = find_box (parts, TYPE ('w', 'a', 'v', 'e'));

    if (!esds.data && wave.data)
      esds = find_box (wave, TYPE ('e', 's', 'd', 's'));
    return set_mpeg (self, esds, error);
  }
  if (type == TYPE ('O', 'p', 'u', 's'))
    return set_opus (self, find_box (parts, TYPE ('d', 'O', 'p', 's')), error);
  if (type == TYPE ('a', 'l', 'a', 'c'))
    return set_alac (self, find_box (parts, TYPE ('a', 'l', 'a', 'c')), error);
  if (type == TYPE ('f', 'L', 'a', 'C'))
    return set_flac (self, find_box (parts, TYPE ('d', 'f', 'L', 'a')), error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND,
      "It is an MP4 with sound of type %c%c%c%c, which is not taken",
      g_ascii_isprint (type >> 24) ? type >> 24 : '?',
      g_ascii_isprint (type >> 16 & 255) ? type >> 16 & 255 : '?',
      g_ascii_isprint (type >> 8 & 255) ? type >> 8 & 255 : '?',
      g_ascii_isprint (type & 255) ? type & 255 : '?');
  return FALSE;
}

/* Its packets */

static guint64
get_offset (const Reader *self, guint chunk)
{
  const guint8 *table = self->offsets.data + 8;

  return self->long_offsets ? spdl_read_64_be (table + 8 * (gsize) chunk)
                            : spdl_read_32_be (table + 4 * (gsize) chunk);
}

/* Goes along a table of runs: how many, and what holds for each of them. */
typedef struct {
  Box box;
  guint n_runs, run;
  guint left;
} Times;

static guint
next_time (Times *self)
{
  while (self->left == 0 && self->run < self->n_runs)
    self->left = spdl_read_32_be (self->box.data + 8 + 8 * self->run++);
  if (self->left == 0)
    return 0;
  self->left--;
  return spdl_read_32_be (self->box.data + 8 + 8 * (self->run - 1) + 4);
}

/* Where an edit ends, in the track's scale. */
static guint64
find_end (const Reader *self)
{
  if (self->edit_length == 0 || self->movie_scale == 0)
    return G_MAXUINT64;
  return self->edit_from + gst_util_uint64_scale_ceil (self->edit_length,
                               self->scale, self->movie_scale);
}

static guint
count_samples (const Reader *self, const guint8 *packet, gsize size, guint time)
{
  gboolean by_sample;
  guint64 number;

  switch (self->track->codec) {
    case SPDL_CODEC_OPUS:
      return spdl_track_count_opus (packet, size);
    case SPDL_CODEC_FLAC:
      return spdl_track_read_flac_frame (packet, size, &number, &by_sample);
    default:
      return self->per_packet > 0
                 ? self->per_packet
                 : gst_util_uint64_scale (time, self->track->rate, self->scale);
  }
}

/* As it lies in the file, or behind a header of its own. FALSE: it is too long
 * for that. */
static gboolean
add_packet (Reader *self, gsize at, guint32 size, guint n)
{
  GByteArray *gathered = self->track->gathered;
  const guint32 all = size + ADTS_HEADER;
  guint8 header[ADTS_HEADER];

  if (!self->track->joins) {
    spdl_track_add (self->track, at, size, n);
    return TRUE;
  }
  if (all > ADTS_MAX_SIZE)
    return FALSE;
  memcpy (header, self->adts, sizeof header);
  header[3] |= all >> 11;
  header[4] = all >> 3;
  header[5] |= (all & 7) << 5;
  spdl_track_add (self->track, gathered->len, all, n);
  g_byte_array_append (gathered, header, sizeof header);
  g_byte_array_append (gathered, self->data + at, size);
  return TRUE;
}

/* Those that begin before the end of the edit. */
static void
read_packets (Reader *self)
{
  const guint same =
      self->sizes.size >= 12 ? spdl_read_32_be (self->sizes.data + 4) : 0;
  const guint n_packets =
      same > 0 ? MIN (spdl_read_32_be (self->sizes.data + 8), self->size / same)
               : count_entries (self->sizes, 8, 4);
  const guint n_chunks =
      count_entries (self->offsets, 4, self->long_offsets ? 8 : 4);
  const guint n_runs = count_entries (self->chunks, 4, 12);
  const guint64 end = find_end (self);
  Times times = { self->times, count_entries (self->times, 4, 8), 0, 0 };
  guint64 time = 0;
  guint packet = 0, run = 0;

  for (guint chunk = 0; chunk < n_chunks && packet < n_packets; chunk++) {
    guint64 at = get_offset (self, chunk);

    while (run < n_runs &&
           spdl_read_32_be (self->chunks.data + 8 + 12 * run) <= chunk + 1)
      run++;
    if (run == 0)
      return;
    const guint n = spdl_read_32_be (self->chunks.data + 8 + 12 * run - 8);
    for (guint i = 0; i < n && packet < n_packets; i++, packet++) {
      const guint32 size =
          same > 0 ? same
                   : spdl_read_32_be (self->sizes.data + 12 + 4 * packet);
      const guint step = next_time (&times);

      if (time >= end)
        return;
      if (at > self->size || size > self->size - at) {
        self->track->damage = "it is cut off";
        return;
      }
      if (!add_packet (self, at, size,
              count_samples (self, self->data + at, size, step))) {
        self->track->damage = "a packet of it is too large";
        return;
      }
      at += size;
      time += step;
    }
  }
}

/* Its tracks */

static void
read_edits (Reader *self, Box elst)
{
  const gboolean is_long = elst.data && elst.size > 0 && elst.data[0] == 1;
  const gsize size = is_long ? 20 : 12;
  const guint n = count_entries (elst, 4, size);

  self->edit_from = 0;
  self->edit_length = 0;
  for (guint i = 0; i < n; i++) {
    const guint8 *p = elst.data + 8 + size * i;
    const gint64 from = is_long ? (gint64) spdl_read_64_be (p + 8)
                                : (gint32) spdl_read_32_be (p + 4);

    if (from < 0)
      continue; /* an empty time */
    self->edit_from = from;
    self->edit_length = is_long ? spdl_read_64_be (p) : spdl_read_32_be (p);
    return;
  }
}

static guint32
read_scale (Box box)
{
  const gsize at = box.size > 0 && box.data[0] == 1 ? 20 : 12;

  return box.size >= at + 4 ? spdl_read_32_be (box.data + at) : 0;
}

/* Whether a track is of @kind, `soun` or `vide`. */
static gboolean
is_of (Box mdia, const gchar *kind)
{
  const Box hdlr = find_box (mdia, TYPE ('h', 'd', 'l', 'r'));

  return hdlr.size >= 12 && memcmp (hdlr.data + 8, kind, 4) == 0;
}

static gboolean
read_track (Reader *self, Box trak, Box mdia, GError **error)
{
  const Box stbl = find_box (
      find_box (mdia, TYPE ('m', 'i', 'n', 'f')), TYPE ('s', 't', 'b', 'l'));
  const Box edts = find_box (trak, TYPE ('e', 'd', 't', 's'));

  self->scale = read_scale (find_box (mdia, TYPE ('m', 'd', 'h', 'd')));
  if (self->scale == 0)
    return spdl_track_fail (self->track, "it has no time", error);
  if (!set_codec (self, find_box (stbl, TYPE ('s', 't', 's', 'd')), error))
    return FALSE;
  read_edits (self, find_box (edts, TYPE ('e', 'l', 's', 't')));
  self->sizes = find_box (stbl, TYPE ('s', 't', 's', 'z'));
  self->chunks = find_box (stbl, TYPE ('s', 't', 's', 'c'));
  self->times = find_box (stbl, TYPE ('s', 't', 't', 's'));
  self->offsets = find_box (stbl, TYPE ('s', 't', 'c', 'o'));
  self->long_offsets = !self->offsets.data;
  if (self->long_offsets)
    self->offsets = find_box (stbl, TYPE ('c', 'o', '6', '4'));
  read_packets (self);
  if (self->track->joins)
    self->track->data = self->track->gathered->data;
  self->track->skip =
      gst_util_uint64_scale (self->edit_from, self->track->rate, self->scale);
  return TRUE;
}

/* Brands of images in such files. */
static gboolean
is_picture (const guint8 *brand)
{
  static const gchar brands[][5] = { "avif", "avis", "heic", "heix", "heif",
    "mif1", "msf1" };

  for (guint i = 0; i < G_N_ELEMENTS (brands); i++)
    if (memcmp (brand, brands[i], 4) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_mp4 (const guint8 *data, gsize size)
{
  return size >= 12 && memcmp (data + 4, "ftyp", 4) == 0 &&
         !is_picture (data + 8);
}

gboolean
spdl_track_is_video (const guint8 *data, gsize size)
{
  gboolean has_sound = FALSE, has_video = FALSE;
  Box moov, box;
  guint32 type;

  if (!is_mp4 (data, size))
    return FALSE;
  moov = find_box ((Box){ data, size }, TYPE ('m', 'o', 'o', 'v'));
  while (take_box (&moov, &type, &box)) {
    const Box mdia = find_box (box, TYPE ('m', 'd', 'i', 'a'));

    has_sound |= is_of (mdia, "soun");
    has_video |= is_of (mdia, "vide");
  }
  return has_video || !has_sound;
}

gboolean
spdl_track_read_mp4 (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  Reader reader = { .track = self, .data = data, .size = size };
  const Box file = { data, size };
  Box moov, box;
  guint32 type;

  if (!is_mp4 (data, size))
    return FALSE;
  spdl_track_begin (self, data);
  self->name = "MP4";
  moov = find_box (file, TYPE ('m', 'o', 'o', 'v'));
  if (!moov.data)
    return spdl_track_fail (self, "it is cut off, or has no table", error);
  reader.movie_scale = read_scale (find_box (moov, TYPE ('m', 'v', 'h', 'd')));
  if (find_box (moov, TYPE ('m', 'v', 'e', 'x')).data)
    return spdl_track_fail (self, "fragmented files are not taken", error);
  while (take_box (&moov, &type, &box)) {
    const Box mdia = find_box (box, TYPE ('m', 'd', 'i', 'a'));

    if (type == TYPE ('t', 'r', 'a', 'k') && mdia.data && is_of (mdia, "soun"))
      return read_track (&reader, box, mdia, error);
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "It is an MP4 without sound");
  return FALSE;
}
