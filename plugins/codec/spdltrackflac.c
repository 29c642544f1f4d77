/* gst-spdl: the frames of FLAC
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdltrack.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"

#define INFO 34
/* A frame's header at most: with a number of 7 bytes. */
#define MAX_HEADER 16

/* x^8 + x^2 + x + 1 */
static guint8
crc_of (const guint8 *p, gsize n)
{
  guint8 crc = 0;

  for (gsize i = 0; i < n; i++) {
    crc ^= p[i];
    for (guint bit = 0; bit < 8; bit++)
      crc = crc << 1 ^ (crc & 0x80 ? 0x07 : 0);
  }
  return crc;
}

/* A number in the way of UTF-8, of up to 36 bits. Returns its bytes; 0: it is
 * none. */
static gsize
read_number (const guint8 *p, gsize left, guint64 *number)
{
  gsize n = 0;

  if (left == 0)
    return 0;
  while (n < 7 && p[0] & 0x80 >> n)
    n++;
  if (n == 0) {
    *number = p[0];
    return 1;
  }
  if (n == 1 || n > left || p[0] == 0xff)
    return 0;
  *number = p[0] & (0x7f >> n);
  for (gsize i = 1; i < n; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 0;
    *number = *number << 6 | (p[i] & 0x3f);
  }
  return n;
}

static guint
read_block_size (guint code, const guint8 *extra)
{
  if (code == 1)
    return 192;
  if (code < 6)
    return 576 << (code - 2);
  if (code == 6)
    return extra[0] + 1;
  if (code == 7)
    return spdl_read_16_be (extra) + 1;
  return 256 << (code - 8);
}

guint
spdl_track_read_flac_frame (
    const guint8 *data, gsize size, guint64 *number, gboolean *by_sample)
{
  guint code, rate_code;
  gsize at, n;

  if (size < MAX_HEADER / 2 || data[0] != 0xff || (data[1] & 0xfe) != 0xf8)
    return 0;
  code = data[2] >> 4;
  rate_code = data[2] & 15;
  if (code == 0 || rate_code == 15 || data[3] >> 4 > 10 || data[3] & 1 ||
      (data[3] >> 1 & 7) == 3)
    return 0;
  n = read_number (data + 4, size - 4, number);
  at = 4 + n;
  if (n == 0)
    return 0;
  n = at + (code == 6 ? 1 : code == 7 ? 2 : 0);
  n += rate_code == 12 ? 1 : rate_code >= 13 ? 2 : 0;
  if (n >= size || crc_of (data, n) != data[n])
    return 0;
  *by_sample = data[1] & 1;
  return read_block_size (code, data + at);
}

gboolean
spdl_track_set_flac (SpdlTrack *self, const guint8 *info)
{
  GstBuffer *data = gst_buffer_new_memdup (info, INFO);

  self->codec = SPDL_CODEC_FLAC;
  self->name = "FLAC";
  self->rate = (guint) spdl_read_16_be (info + 10) << 4 | info[12] >> 4;
  self->n_channels = (info[12] >> 1 & 7) + 1;
  self->lead = SPDL_LEAD_NONE;
  spdl_track_set_caps (self,
      gst_caps_new_simple ("audio/x-flac", "framed", G_TYPE_BOOLEAN, TRUE,
          "rate", G_TYPE_INT, (gint) self->rate, "channels", G_TYPE_INT,
          (gint) self->n_channels, "codec_data", GST_TYPE_BUFFER, data, NULL));
  gst_buffer_unref (data);
  return self->rate > 0;
}

/* Where the frames begin, behind the blocks of metadata; 0: nowhere. */
static gsize
find_frames (const guint8 *data, gsize size, gsize at)
{
  gboolean last = FALSE;

  for (at += 4; !last;) {
    if (size - at < 4)
      return 0;
    last = data[at] & 0x80;
    const gsize length = spdl_read_32_be (data + at) & 0xffffff;
    if (length > size - at - 4)
      return 0;
    at += 4 + length;
  }
  return at;
}

/* A frame has no size: the next one begins where a header is that has the next
 * number, and is right by its sum. */
static gsize
find_next (const guint8 *data, gsize size, gsize at, guint64 wanted,
    gboolean by_sample)
{
  gboolean next_by_sample;
  guint64 number;

  for (;;) {
    const guint8 *found =
        at < size ? memchr (data + at, 0xff, size - at) : NULL;

    if (!found)
      return size;
    at = found - data;
    if (spdl_track_read_flac_frame (
            found, size - at, &number, &next_by_sample) > 0 &&
        number == wanted && next_by_sample == by_sample)
      return at;
    at++;
  }
}

static guint64
read_frames (SpdlTrack *self, const guint8 *data, gsize size, gsize at)
{
  guint64 total = 0, number;
  gboolean by_sample;
  guint n;

  while (at < size && (n = spdl_track_read_flac_frame (
                           data + at, size - at, &number, &by_sample)) > 0) {
    const gsize end =
        find_next (data, size, at + 1, number + (by_sample ? n : 1), by_sample);

    spdl_track_add (self, at, end - at, n);
    total += n;
    at = end;
  }
  return total;
}

gboolean
spdl_track_read_flac (
    SpdlTrack *self, const guint8 *data, gsize size, GError **error)
{
  gsize at = spdl_track_skip_tags (data, size);
  guint64 wanted, total;
  const guint8 *info;

  if (size - at < 4 || memcmp (data + at, "fLaC", 4) != 0)
    return FALSE;
  spdl_track_begin (self, data);
  self->name = "FLAC";
  if (size - at < 8 + INFO || (data[at + 4] & 0x7f) != 0)
    return spdl_track_fail (self, "it does not say what is in it", error);
  info = data + at + 8;
  if (!spdl_track_set_flac (self, info))
    return spdl_track_fail (self, "it has no rate", error);
  wanted = (guint64) (info[13] & 15) << 32 | spdl_read_32_be (info + 14);
  if (!(at = find_frames (data, size, at)))
    return spdl_track_fail (self, "it is cut off before its frames", error);
  total = read_frames (self, data, size, at);
  if (total < wanted)
    self->damage = "it is cut off, or a frame is missing";
  else if (wanted > 0)
    self->length = wanted;
  return TRUE;
}
