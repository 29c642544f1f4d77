/* gst-spdl: frame size in the headers of video codecs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/framesize.h"

#include <string.h>

#include "plugins/codec/video/vops.h"
#include "plugins/common/bytes.h"

/* Maximum number of rows or columns that pad the last block of a frame. */
#define MAX_FILL 63

static void
note_size (SpdlFrameSize *found, guint64 width, guint64 height)
{
  width = MIN (width, G_MAXINT);
  height = MIN (height, G_MAXINT);
  if (width * height > (guint64) found->width * found->height)
    *found = (SpdlFrameSize){ width, height };
}

/* Bit reader */

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at; /* in bits */
  gboolean in_unit;
  gboolean broken; /* a read exceeded the data */
} Bits;

/* Returns whether byte @i is an emulation prevention byte of H.264 or H.265: 3
 * after two zero bytes. */
static gboolean
is_filler (const Bits *self, gsize i)
{
  return self->in_unit && i >= 2 && self->data[i] == 3 &&
         self->data[i - 1] == 0 && self->data[i - 2] == 0;
}

/* Reads @n bits and returns the last 32 of them. */
static guint32
take_bits (Bits *self, guint n)
{
  guint32 value = 0;

  while (n-- > 0 && !self->broken) {
    const gsize i = self->at / 8;

    if (self->at % 8 == 0 && i < self->size && is_filler (self, i)) {
      self->at += 8;
      n++;
      continue;
    }
    self->broken = i >= self->size;
    if (!self->broken)
      value = value << 1 | (self->data[i] >> (7 - self->at++ % 8) & 1);
  }
  return value;
}

/* Reads an unsigned Exp-Golomb code. */
static guint32
take_number (Bits *self)
{
  guint zeros = 0;

  while (!self->broken && take_bits (self, 1) == 0)
    self->broken = ++zeros > 31;
  return self->broken ? 0 : (1u << zeros) - 1 + take_bits (self, zeros);
}

/* Reads a signed Exp-Golomb code, modulo 2^32. */
static guint32
take_signed (Bits *self)
{
  const guint32 number = take_number (self);

  return number & 1 ? number / 2 + 1 : -(number / 2);
}

/* Subtracts the cropping on two sides, in units of @unit, up to the padding of
 * the last block. */
static guint64
crop_side (guint64 whole, guint32 first, guint32 last, guint unit)
{
  const guint64 cut = ((guint64) first + last) * unit;

  return whole - MIN (MIN (cut, MAX_FILL), whole);
}

/* H.264 */

static void
skip_scaling_list (Bits *bits, guint n)
{
  guint32 last = 8, next = 8;

  for (guint i = 0; i < n && next != 0 && !bits->broken; i++) {
    next = (last + take_signed (bits)) & 0xff;
    last = next != 0 ? next : last;
  }
}

static void
skip_scaling (Bits *bits, guint chroma)
{
  for (guint i = 0; i < (chroma == 3 ? 12 : 8); i++)
    if (take_bits (bits, 1))
      skip_scaling_list (bits, i < 6 ? 16 : 64);
}

static void
skip_picture_order (Bits *bits)
{
  guint n = 0;

  switch (take_number (bits)) {
    case 0:
      take_number (bits);
      break;
    case 1:
      take_bits (bits, 1);
      take_number (bits);
      take_number (bits);
      n = take_number (bits);
      bits->broken |= n > 255;
      break;
    default:
      break;
  }
  for (; n > 0 && !bits->broken; n--)
    take_number (bits);
}

/* Reads a sequence parameter set, after the first byte of the NAL unit. */
static void
read_h264 (Bits *bits, SpdlFrameSize *found)
{
  static const guint8 with_chroma[] = { 100, 110, 122, 244, 44, 83, 86, 118,
    128, 138, 139, 134, 135 };
  const guint profile = take_bits (bits, 8);
  guint32 left = 0, right = 0, top = 0, bottom = 0;
  guint chroma = 1, fields;
  guint64 width, height;

  take_bits (bits, 16);
  take_number (bits);
  if (memchr (with_chroma, profile, sizeof with_chroma)) {
    chroma = take_number (bits);
    if (chroma == 3)
      take_bits (bits, 1);
    take_number (bits);
    take_number (bits);
    take_bits (bits, 1);
    if (take_bits (bits, 1))
      skip_scaling (bits, chroma);
  }
  take_number (bits);
  skip_picture_order (bits);
  take_number (bits);
  take_bits (bits, 1);
  width = 16 * ((guint64) take_number (bits) + 1);
  height = 16 * ((guint64) take_number (bits) + 1);
  fields = take_bits (bits, 1) ? 1 : 2;
  if (fields == 2)
    take_bits (bits, 1);
  take_bits (bits, 1);
  if (take_bits (bits, 1)) {
    left = take_number (bits);
    right = take_number (bits);
    top = take_number (bits);
    bottom = take_number (bits);
  }
  if (!bits->broken)
    note_size (found,
        crop_side (width, left, right, chroma == 1 || chroma == 2 ? 2 : 1),
        crop_side (
            height * fields, top, bottom, fields * (chroma == 1 ? 2 : 1)));
}

/* H.265 */

static void
skip_layers (Bits *bits, guint n_layers)
{
  guint8 has[8] = { 0 };

  /* The number has three bits; GCC 14 does not detect this. */
  n_layers = MIN (n_layers, G_N_ELEMENTS (has) - 1);
  take_bits (bits, 88 + 8);
  for (guint i = 0; i < n_layers; i++)
    has[i] = take_bits (bits, 2);
  if (n_layers > 0)
    take_bits (bits, 2 * (8 - n_layers));
  for (guint i = 0; i < n_layers; i++)
    take_bits (bits, (has[i] & 2 ? 88 : 0) + (has[i] & 1 ? 8 : 0));
}

/* Reads a sequence parameter set, after the first two bytes of the NAL unit. */
static void
read_h265 (Bits *bits, SpdlFrameSize *found)
{
  guint32 left = 0, right = 0, top = 0, bottom = 0;
  guint n_layers, chroma;
  guint64 width, height;

  take_bits (bits, 4);
  n_layers = take_bits (bits, 3);
  take_bits (bits, 1);
  skip_layers (bits, n_layers);
  take_number (bits);
  chroma = take_number (bits);
  if (chroma == 3)
    take_bits (bits, 1);
  width = take_number (bits);
  height = take_number (bits);
  if (take_bits (bits, 1)) {
    left = take_number (bits);
    right = take_number (bits);
    top = take_number (bits);
    bottom = take_number (bits);
  }
  if (!bits->broken)
    note_size (found,
        crop_side (width, left, right, chroma == 1 || chroma == 2 ? 2 : 1),
        crop_side (height, top, bottom, chroma == 1 ? 2 : 1));
}

/* NAL units of H.264 and H.265 */

static void
read_unit (
    SpdlCodec codec, const guint8 *data, gsize size, SpdlFrameSize *found)
{
  enum { PARAMETERS_H264 = 7, PARAMETERS_H265 = 33 };
  const gsize head = codec == SPDL_CODEC_H264 ? 1 : 2;
  Bits bits = { data, size, 8 * head, TRUE, FALSE };

  if (size <= head)
    return;
  /* Decoders ignore other layers of H.265, whose headers differ. */
  if (codec == SPDL_CODEC_H265 && ((data[0] & 1) || data[1] >> 3))
    return;
  if (codec == SPDL_CODEC_H264 && (data[0] & 0x1f) == PARAMETERS_H264)
    read_h264 (&bits, found);
  else if (codec == SPDL_CODEC_H265 && (data[0] >> 1 & 0x3f) == PARAMETERS_H265)
    read_h265 (&bits, found);
}

static void
read_units (const SpdlPacketFormat *format, const guint8 *data, gsize size,
    SpdlFrameSize *found)
{
  SpdlUnit unit = { .rest = data, .rest_size = size };

  while (spdl_unit_next (&unit, format->length_size))
    read_unit (format->codec, unit.data, unit.size, found);
}

/* Reads the parameter sets in codec_data. H.264 has one list of NAL units with
 * lengths, and H.265 any number of lists. */
static void
read_configuration (
    SpdlCodec codec, const guint8 *data, gsize size, SpdlFrameSize *found)
{
  const gboolean is_h264 = codec == SPDL_CODEC_H264;
  gsize at = is_h264 ? 5 : 22;
  guint n_lists = 1;

  if (!is_h264 && at < size)
    n_lists = data[at++];
  while (n_lists-- > 0 && at + 3 <= size) {
    guint n_units = is_h264 ? data[at] & 0x1f : spdl_read_16_be (data + at + 1);

    at += is_h264 ? 1 : 3;
    while (n_units-- > 0 && at + 2 <= size) {
      const gsize length = spdl_read_16_be (data + at);

      at += 2;
      if (length > size - at)
        return;
      read_unit (codec, data + at, length, found);
      at += length;
    }
  }
}

/* AV1 */

static void
skip_av1_points (Bits *bits)
{
  guint n_delay_bits = 0, n_points;
  gboolean has_delays;

  if (take_bits (bits, 1)) {
    take_bits (bits, 64);
    if (take_bits (bits, 1))
      take_number (bits);
    if (take_bits (bits, 1)) {
      n_delay_bits = take_bits (bits, 5) + 1;
      take_bits (bits, 32 + 5 + 5);
    }
  }
  has_delays = take_bits (bits, 1);
  n_points = take_bits (bits, 5) + 1;
  for (guint i = 0; i < n_points; i++) {
    take_bits (bits, 12);
    if (take_bits (bits, 5) > 7)
      take_bits (bits, 1);
    if (n_delay_bits > 0 && take_bits (bits, 1))
      take_bits (bits, 2 * n_delay_bits + 1);
    if (has_delays && take_bits (bits, 1))
      take_bits (bits, 4);
  }
}

/* Reads a sequence header, which has the maximum frame size. */
static void
read_av1_sequence (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  Bits bits = { data, size };
  guint n_width_bits, n_height_bits;
  guint64 width, height;

  take_bits (&bits, 3 + 1);
  if (take_bits (&bits, 1))
    take_bits (&bits, 5);
  else
    skip_av1_points (&bits);
  n_width_bits = take_bits (&bits, 4) + 1;
  n_height_bits = take_bits (&bits, 4) + 1;
  width = (guint64) take_bits (&bits, n_width_bits) + 1;
  height = (guint64) take_bits (&bits, n_height_bits) + 1;
  if (!bits.broken)
    note_size (found, width, height);
}

static void
read_av1 (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  enum { SEQUENCE = 1 };
  gsize at = 0;

  while (at < size) {
    const guint8 head = data[at];
    guint64 length = 0;
    guint shift = 0;

    at += head & 4 ? 2 : 1;
    if (head & 2) {
      do {
        if (at >= size || shift > 28)
          return;
        length |= (guint64) (data[at] & 0x7f) << shift;
        shift += 7;
      } while (data[at++] & 0x80);
    } else {
      length = size - MIN (at, size);
    }
    if (at > size || length > size - at)
      return;
    if ((head >> 3 & 15) == SEQUENCE)
      read_av1_sequence (data + at, length, found);
    at += length;
  }
}

/* VP8 and VP9 */

static void
read_vp8 (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  if (size >= 10 && !(data[0] & 1) && memcmp (data + 3, "\x9d\x01\x2a", 3) == 0)
    note_size (found, spdl_read_16_le (data + 6) & 0x3fff,
        spdl_read_16_le (data + 8) & 0x3fff);
}

static void
skip_vp9_colors (Bits *bits, guint profile)
{
  enum { SRGB = 7 };

  if (profile >= 2)
    take_bits (bits, 1);
  if (take_bits (bits, 3) != SRGB)
    take_bits (bits, profile & 1 ? 4 : 1);
  else if (profile & 1)
    take_bits (bits, 1);
}

/* Returns whether an inter frame has an explicit size. */
static gboolean
has_vp9_size (Bits *bits)
{
  take_bits (bits, 8 + 3 * 4);
  for (guint i = 0; i < 3; i++)
    if (take_bits (bits, 1))
      return FALSE;
  return TRUE;
}

static void
read_vp9_frame (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  Bits bits = { data, size };
  gboolean is_shown, is_alone, is_careful;
  guint64 width, height;
  guint profile;

  if (take_bits (&bits, 2) != 2)
    return;
  profile = take_bits (&bits, 1);
  profile |= take_bits (&bits, 1) << 1;
  if (profile == 3)
    take_bits (&bits, 1);
  if (take_bits (&bits, 1))
    return;
  if (take_bits (&bits, 1) == 0) {
    take_bits (&bits, 2 + 24);
    skip_vp9_colors (&bits, profile);
  } else {
    is_shown = take_bits (&bits, 1);
    is_careful = take_bits (&bits, 1);
    is_alone = !is_shown && take_bits (&bits, 1);
    if (!is_careful)
      take_bits (&bits, 2);
    if (is_alone) {
      take_bits (&bits, 24);
      if (profile > 0)
        skip_vp9_colors (&bits, profile);
      take_bits (&bits, 8);
    } else if (!has_vp9_size (&bits)) {
      return;
    }
  }
  width = (guint64) take_bits (&bits, 16) + 1;
  height = (guint64) take_bits (&bits, 16) + 1;
  if (!bits.broken)
    note_size (found, width, height);
}

/* Reads a packet. A superframe contains several frames and ends with an index
 * of their sizes between two identical bytes. */
static void
read_vp9 (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  const guint8 mark = size > 0 ? data[size - 1] : 0;
  const guint n_frames = (mark & 7) + 1, n_bytes = (mark >> 3 & 3) + 1;
  const gsize table = 2 + n_frames * n_bytes;
  gsize at = 0;

  if ((mark & 0xe0) != 0xc0 || size < table || data[size - table] != mark) {
    read_vp9_frame (data, size, found);
    return;
  }
  for (guint i = 0; i < n_frames; i++) {
    const guint8 *number = data + size - table + 1 + i * n_bytes;
    gsize length = 0;

    for (guint k = n_bytes; k-- > 0;)
      length = length << 8 | number[k];
    if (length > size - table - at)
      return;
    read_vp9_frame (data + at, length, found);
    at += length;
  }
}

/* MPEG */

/* Reads the size from the sequence header, and its upper bits from the sequence
 * extension. */
static void
read_mpeg2 (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  enum { SEQUENCE = 0xb3, EXTENSION = 0xb5 };
  guint width = 0, height = 0;

  for (gsize at = spdl_find_start_code (data, size, 0); at < size;
       at = spdl_find_start_code (data, size, at)) {
    Bits bits = { data + at, size - at, 8 };

    if (data[at] == SEQUENCE) {
      width = take_bits (&bits, 12);
      height = take_bits (&bits, 12);
    } else if (data[at] == EXTENSION && take_bits (&bits, 4) == 1) {
      take_bits (&bits, 8 + 1 + 2);
      width |= take_bits (&bits, 2) << 12;
      height |= take_bits (&bits, 2) << 12;
    }
    if (!bits.broken)
      note_size (found, width, height);
  }
}

static void
read_mpeg4 (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  guint width, height;

  if (spdl_vops_find_size (data, size, &width, &height))
    note_size (found, width, height);
}

/* Other codecs */

/* Reads the frame header (SOF). */
static void
read_jpeg (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  gsize at = 2;

  while (at + 9 <= size && data[at] == 0xff) {
    const guint8 marker = data[at + 1];

    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
        marker != 0xcc) {
      note_size (found, spdl_read_16_be (data + at + 7),
          spdl_read_16_be (data + at + 5));
      return;
    }
    at += marker == 0xff ? 1 : 2 + spdl_read_16_be (data + at + 2);
  }
}

static void
read_prores (const guint8 *data, gsize size, SpdlFrameSize *found)
{
  if (size >= 20 && memcmp (data + 4, "icpf", 4) == 0)
    note_size (found, spdl_read_16_be (data + 16), spdl_read_16_be (data + 18));
}

gboolean
spdl_frame_size_find (const SpdlPacketFormat *format, const guint8 *data,
    gsize size, SpdlFrameSize *found)
{
  *found = (SpdlFrameSize){ 0 };
  switch (format->codec) {
    case SPDL_CODEC_H264:
    case SPDL_CODEC_H265:
      read_units (format, data, size, found);
      break;
    case SPDL_CODEC_AV1:
      read_av1 (data, size, found);
      break;
    case SPDL_CODEC_VP8:
      read_vp8 (data, size, found);
      break;
    case SPDL_CODEC_VP9:
      read_vp9 (data, size, found);
      break;
    case SPDL_CODEC_MPEG2:
      read_mpeg2 (data, size, found);
      break;
    case SPDL_CODEC_MPEG4:
      read_mpeg4 (data, size, found);
      break;
    case SPDL_CODEC_JPEG:
      read_jpeg (data, size, found);
      break;
    case SPDL_CODEC_PRORES:
      read_prores (data, size, found);
      break;
    default:
      break;
  }
  return found->width > 0 && found->height > 0;
}

gboolean
spdl_frame_size_find_in_caps (const GstCaps *caps, SpdlFrameSize *found)
{
  enum { AV1_HEAD = 4 };
  const SpdlPacketFormat format = spdl_packet_get_format (caps);
  const GValue *value =
      gst_structure_get_value (gst_caps_get_structure (caps, 0), "codec_data");
  GstMapInfo map;

  *found = (SpdlFrameSize){ 0 };
  if (!value || !GST_VALUE_HOLDS_BUFFER (value) ||
      !gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ))
    return FALSE;
  if (format.length_size > 0)
    read_configuration (format.codec, map.data, map.size, found);
  else if (format.codec != SPDL_CODEC_AV1)
    spdl_frame_size_find (&format, map.data, map.size, found);
  else if (map.size > AV1_HEAD)
    read_av1 (map.data + AV1_HEAD, map.size - AV1_HEAD, found);
  gst_buffer_unmap (gst_value_get_buffer (value), &map);
  return found->width > 0 && found->height > 0;
}
