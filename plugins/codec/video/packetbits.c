/* gst-spdl: what packets of a video tell before they are decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/packetbits.h"

#include <gst/base/gstbitreader.h>

/* Bits in units of H.264 */

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at;         /* in bits */
  gboolean is_over; /* a read exceeded the data */
} Bits;

/* Reads @n bits and returns the last 32 of them. Skips emulation prevention
 * bytes: 3 after two zero bytes. */
static guint32
bits_take (Bits *self, guint n)
{
  guint32 value = 0;

  while (n > 0 && !self->is_over) {
    const gsize i = self->at / 8;
    const guint8 *p = self->data + i;

    if (self->at % 8 == 0 && i >= 2 && i < self->size && p[0] == 3 &&
        p[-1] == 0 && p[-2] == 0) {
      self->at += 8;
      continue;
    }
    self->is_over = i >= self->size;
    if (!self->is_over)
      value = value << 1 | (*p >> (7 - self->at++ % 8) & 1);
    n--;
  }
  return value;
}

/* Reads an unsigned Exp-Golomb code. */
static guint32
bits_take_number (Bits *self)
{
  guint zeros = 0;

  while (!self->is_over && bits_take (self, 1) == 0)
    self->is_over = ++zeros > 31;
  return self->is_over ? 0 : (1u << zeros) - 1 + bits_take (self, zeros);
}

/* Kinds of frames */

/* Reads the frame tag of VP8. */
static gboolean
is_hidden_vp8 (const guint8 *data, gsize size)
{
  return size > 0 && !(data[0] & 0x10);
}

/* Reads the beginning of the frame header. The last frame of a superframe is
 * shown. */
static gboolean
is_hidden_vp9 (const guint8 *data, gsize size)
{
  guint bits, profile, at = 4;

  if (size < 1 || data[0] >> 6 != 2 || (data[size - 1] & 0xe0) == 0xc0)
    return FALSE;
  bits = data[0];
  profile = (bits >> 5 & 1) | (bits >> 4 & 1) << 1;
  if (profile == 3)
    at++;
  /* show_existing_frame; frame_type; show_frame */
  if (bits >> (7 - at) & 1)
    return FALSE;
  return !(bits >> (7 - (at + 2)) & 1);
}

gboolean
spdl_packet_is_hidden (
    const SpdlPacketFormat *format, const guint8 *data, gsize size)
{
  if (format->codec == AV_CODEC_ID_VP8)
    return is_hidden_vp8 (data, size);
  return format->codec == AV_CODEC_ID_VP9 && is_hidden_vp9 (data, size);
}

SpdlPacketFormat
spdl_packet_get_format (const AVCodecParameters *codec)
{
  SpdlPacketFormat format = { codec->codec_id, 0 };
  /* Offset of the byte with the size of the length fields. Headers that begin
   * with 1 are not a byte stream with start codes. */
  const gint at = format.codec == AV_CODEC_ID_HEVC ? 21 : 4;

  if ((format.codec == AV_CODEC_ID_H264 || format.codec == AV_CODEC_ID_HEVC) &&
      codec->extradata_size > at && codec->extradata[0] == 1)
    format.length_size = (codec->extradata[at] & 3) + 1;
  return format;
}

/* NAL unit types of H.264, and range of H.265 random access points. */
enum {
  SLICE = 1,
  KEY_SLICE = 5,
  SEI = 6,
  PARAMETERS = 7,
  DELIMITER = 9,
  FILLER = 12
};
enum { FIRST_KEY_H265 = 16, LAST_KEY_H265 = 23, FIRST_PARAMETERS_H265 = 32 };

/* Returns the offset after the next start code 0 0 1 from @at on, or @size. */
static gsize
find_start_code (const guint8 *data, gsize size, gsize at)
{
  /* A byte above 1 is not part of a start code, so three offsets are
   * skipped. */
  for (; at + 3 < size; at += data[at + 2] > 1 ? 3 : 1)
    if (data[at] == 0 && data[at + 1] == 0 && data[at + 2] == 1)
      return at + 3;
  return size;
}

/* The unit includes the start code of the next one, which matters to no
 * reader. */
static gboolean
next_marked (SpdlUnit *self)
{
  const gsize begin = find_start_code (self->rest, self->rest_size, 0);
  const gsize end = find_start_code (self->rest, self->rest_size, begin);

  self->data = self->rest + begin;
  self->size = end - begin;
  /* The start code is searched again. */
  self->rest += end < self->rest_size ? end - 3 : end;
  self->rest_size -= end < self->rest_size ? end - 3 : end;
  return self->size > 0;
}

gboolean
spdl_unit_next (SpdlUnit *self, guint length_size)
{
  gsize length = 0;

  if (length_size == 0)
    return next_marked (self);
  if (self->rest_size <= length_size)
    return FALSE;
  for (guint i = 0; i < length_size; i++)
    length = length << 8 | self->rest[i];
  if (length == 0 || length > self->rest_size - length_size)
    return FALSE;
  self->data = self->rest + length_size;
  self->size = length;
  self->rest = self->data + length;
  self->rest_size -= length_size + length;
  return TRUE;
}

/* Returns whether the packet consists of slices that are not used for
 * reference, and of units that belong to a single picture. */
gboolean
spdl_packet_is_spare (
    const SpdlPacketFormat *format, const guint8 *data, gsize size)
{
  SpdlUnit unit = { .rest = data, .rest_size = size };
  gboolean has_slice = FALSE;

  if (format->codec != AV_CODEC_ID_H264)
    return FALSE;
  while (spdl_unit_next (&unit, format->length_size)) {
    const guint kind = unit.data[0] & 0x1f;

    if (kind == SLICE && !(unit.data[0] & 0x60))
      has_slice = TRUE;
    else if (kind != SEI && kind != DELIMITER && kind != FILLER)
      return FALSE;
  }
  return has_slice && unit.rest_size == 0;
}

/* Returns whether there is a recovery point SEI with a nonzero recovery frame
 * count. */
static gboolean
has_gradual_point (const guint8 *data, gsize size)
{
  enum { RECOVERY_POINT = 6 };
  gsize at = 1;

  while (at + 2 < size) {
    guint kind = 0, length = 0;

    while (at < size && data[at] == 0xff)
      kind += data[at++];
    if (at < size)
      kind += data[at++];
    while (at < size && data[at] == 0xff)
      length += data[at++];
    if (at < size)
      length += data[at++];
    if (kind == RECOVERY_POINT)
      return at < size && !(data[at] & 0x80);
    at += length;
  }
  return FALSE;
}

/* Reads the slice type, the second number of a slice header. Types 2 and 4
 * modulo 5 are intra. */
static gboolean
is_made_from_others (const guint8 *data, gsize size)
{
  Bits bits = { data, size, 8 };
  guint type;

  bits_take_number (&bits);
  type = bits_take_number (&bits) % 5;
  return !bits.is_over && type != 2 && type != 4;
}

static gboolean
is_false_key_h264 (guint length_size, const guint8 *data, gsize size)
{
  SpdlUnit unit = { .rest = data, .rest_size = size };

  while (spdl_unit_next (&unit, length_size)) {
    const guint kind = unit.data[0] & 0x1f;

    if (kind == KEY_SLICE)
      return FALSE;
    if ((kind == SEI && has_gradual_point (unit.data, unit.size)) ||
        (kind == SLICE && is_made_from_others (unit.data, unit.size)))
      return TRUE;
  }
  return FALSE;
}

/* Unit types of slices are below those of parameter sets. */
static gboolean
is_false_key_h265 (guint length_size, const guint8 *data, gsize size)
{
  SpdlUnit unit = { .rest = data, .rest_size = size };

  while (spdl_unit_next (&unit, length_size)) {
    const guint kind = unit.data[0] >> 1 & 0x3f;

    if (kind < FIRST_PARAMETERS_H265)
      return kind < FIRST_KEY_H265 || kind > LAST_KEY_H265;
  }
  return FALSE;
}

gboolean
spdl_packet_needs_earlier (
    const SpdlPacketFormat *format, const guint8 *data, gsize size)
{
  enum { FIRST_RADL = 6, LAST_RADL = 7 };
  SpdlUnit unit = { .rest = data, .rest_size = size };

  if (format->codec == AV_CODEC_ID_H264 ||
      format->codec == AV_CODEC_ID_MPEG2VIDEO ||
      format->codec == AV_CODEC_ID_MPEG4)
    return TRUE;
  while (format->codec == AV_CODEC_ID_HEVC &&
         spdl_unit_next (&unit, format->length_size)) {
    const guint kind = unit.data[0] >> 1 & 0x3f;

    if (kind < FIRST_PARAMETERS_H265)
      return kind < FIRST_RADL || kind > LAST_RADL;
  }
  return FALSE;
}

/* Reads the picture header: 22 bits of start code, 8 of temporal reference, 5
 * without relevance here, 3 of source format, and the picture coding type. With
 * the extended header, both are at other positions. */
static gboolean
is_false_key_h263 (const guint8 *data, gsize size)
{
  enum { MARK = 0x20, SIZE_ELSEWHERE = 7, WITH_SIZE = 1, SIZE_BITS = 18 };
  guint64 header = 0;
  guint at;

  for (guint i = 0; i < 8; i++)
    header = header << 8 | (i < size ? data[i] : 0);
  if (header >> 42 != MARK)
    return FALSE;
  if ((header >> 26 & 7) != SIZE_ELSEWHERE)
    return header >> 25 & 1;
  at = (header >> 23 & 7) == WITH_SIZE ? 41 + SIZE_BITS : 41;
  return (header >> (61 - at) & 7) != 0;
}

/* Reads the picture coding type after the first picture start code. */
SpdlVop
spdl_packet_get_vop (
    const SpdlPacketFormat *format, const guint8 *data, gsize size)
{
  enum { PICTURE = 0 };
  static const SpdlVop vops[8] = {
    [1] = SPDL_VOP_WHOLE, SPDL_VOP_REFERENCE, SPDL_VOP_BETWEEN
  };

  for (gsize at = 0; (at = find_start_code (data, size, at)) + 2 < size;)
    if (data[at] == PICTURE)
      return vops[data[at + 2] >> 3 & 7];
  return SPDL_VOP_UNKNOWN;
}

static gboolean
is_false_key_mpeg4 (const guint8 *data, gsize size)
{
  enum { PICTURE = 0xb6, WHOLE = 0 };

  for (gsize at = 0; (at = find_start_code (data, size, at)) + 1 < size;)
    if (data[at] == PICTURE)
      return data[at + 1] >> 6 != WHOLE;
  return FALSE;
}

gboolean
spdl_packet_is_false_key (
    const SpdlPacketFormat *format, const guint8 *data, gsize size)
{
  SpdlVop vop;

  switch (format->codec) {
    case AV_CODEC_ID_H263:
      return is_false_key_h263 (data, size);
    case AV_CODEC_ID_H264:
      return is_false_key_h264 (format->length_size, data, size);
    case AV_CODEC_ID_HEVC:
      return is_false_key_h265 (format->length_size, data, size);
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
      vop = spdl_packet_get_vop (format, data, size);
      return vop != SPDL_VOP_WHOLE && vop != SPDL_VOP_UNKNOWN;
    case AV_CODEC_ID_MPEG4:
      return is_false_key_mpeg4 (data, size);
    default:
      return FALSE;
  }
}

/* Numbers of pictures in H.264 */

static void
skip_scaling_list (Bits *bits, guint n)
{
  guint32 last = 8, next = 8;

  for (guint i = 0; i < n && next != 0 && !bits->is_over; i++) {
    const guint32 number = bits_take_number (bits);
    const guint32 delta = number & 1 ? number / 2 + 1 : -(number / 2);

    next = (last + delta) & 0xff;
    last = next != 0 ? next : last;
  }
}

static gboolean
has_chroma_format (guint profile)
{
  static const guint8 profiles[] = { 100, 110, 122, 244, 44, 83, 86, 118, 128,
    138, 139, 134, 135 };

  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    if (profiles[i] == profile)
      return TRUE;
  return FALSE;
}

/* Reads a sequence parameter set. */
static void
read_parameters (SpdlFrameNumbers *self, const SpdlUnit *unit)
{
  enum { ALL_PLANES = 3, CYCLE = 1 };
  Bits bits = { unit->data, unit->size, 8 };
  const guint profile = bits_take (&bits, 8);
  guint chroma = 1, n_bits, n;

  bits_take (&bits, 16);
  bits_take_number (&bits);
  self->has_planes = FALSE;
  if (has_chroma_format (profile)) {
    chroma = bits_take_number (&bits);
    if (chroma == ALL_PLANES)
      self->has_planes = bits_take (&bits, 1);
    bits_take_number (&bits);
    bits_take_number (&bits);
    bits_take (&bits, 1);
    if (bits_take (&bits, 1))
      for (guint i = 0; i < (chroma == ALL_PLANES ? 12 : 8); i++)
        if (bits_take (&bits, 1))
          skip_scaling_list (&bits, i < 6 ? 16 : 64);
  }
  n_bits = bits_take_number (&bits) + 4;
  n = bits_take_number (&bits);
  if (n == 0) {
    bits_take_number (&bits);
  } else if (n == CYCLE) {
    bits_take (&bits, 1);
    bits_take_number (&bits);
    bits_take_number (&bits);
    for (n = bits_take_number (&bits); n > 0 && !bits.is_over; n--)
      bits_take_number (&bits);
  }
  bits_take_number (&bits);
  self->may_skip = bits_take (&bits, 1);
  bits_take_number (&bits);
  bits_take_number (&bits);
  self->has_fields = !bits_take (&bits, 1);
  self->n_bits = bits.is_over || n_bits > 16 ? 0 : n_bits;
}

void
spdl_frame_numbers_begin (
    SpdlFrameNumbers *self, const AVCodecParameters *codec)
{
  const guint8 *data = codec->extradata;
  SpdlUnit unit = { .rest = data, .rest_size = codec->extradata_size };

  *self = (SpdlFrameNumbers){ 0 };
  if (codec->codec_id != AV_CODEC_ID_H264 || codec->extradata_size < 8)
    return;
  /* The sets in MP4's form have a size of two bytes each. */
  if (data[0] == 1) {
    unit.rest += 6;
    unit.rest_size -= 6;
  }
  while (spdl_unit_next (&unit, data[0] == 1 ? 2 : 0))
    if ((unit.data[0] & 0x1f) == PARAMETERS) {
      read_parameters (self, &unit);
      return;
    }
}

/* Compares the number of a picture with that of the last one that others depend
 * on. */
static void
take_slice (SpdlFrameNumbers *self, const SpdlUnit *unit, gboolean is_key)
{
  Bits bits = { unit->data, unit->size, 8 };
  const guint mask = (1u << self->n_bits) - 1;
  gboolean is_field;
  guint number;

  for (guint i = 0; i < 3; i++)
    bits_take_number (&bits);
  if (self->has_planes)
    bits_take (&bits, 2);
  number = bits_take (&bits, self->n_bits);
  is_field = self->has_fields && bits_take (&bits, 1);
  if (bits.is_over)
    return;
  /* The second field of a frame has the same number. */
  if (self->has_previous && !self->may_skip &&
      !(is_field && number == self->previous) &&
      number != ((self->previous + 1) & mask))
    self->is_broken = TRUE;
  if (is_key) {
    self->was_broken = self->is_broken;
    self->is_broken = FALSE;
  }
  self->has_previous = TRUE;
  if (unit->data[0] & 0x60)
    self->previous = number;
}

gboolean
spdl_frame_numbers_take (SpdlFrameNumbers *self, const SpdlPacketFormat *format,
    const guint8 *data, gsize size, gboolean is_key)
{
  SpdlUnit unit = { .rest = data, .rest_size = size };

  if (format->codec != AV_CODEC_ID_H264)
    return FALSE;
  while (spdl_unit_next (&unit, format->length_size)) {
    const guint kind = unit.data[0] & 0x1f;

    if (kind == PARAMETERS)
      read_parameters (self, &unit);
    if (kind != SLICE && kind != KEY_SLICE)
      continue;
    if (self->n_bits > 0)
      take_slice (self, &unit, is_key);
    break;
  }
  return self->is_broken;
}

/* VOPs (frames) of MPEG-4 part 2 */

/* Last bytes of start codes. */
enum { LAYER = 0x20, LAYER_END = 0x2f, GROUP = 0xb3, VOP = 0xb6 };

static guint
take_bits (GstBitReader *reader, guint n)
{
  guint32 bits = 0;

  gst_bit_reader_get_bits_uint32 (reader, &bits, n);
  return bits;
}

/* Reads the number of bits of a frame's time from the header of a video object
 * layer. Returns 0 if it is truncated. */
static guint
read_time_bits (const guint8 *data, gsize size)
{
  enum { EXTENDED = 15, GRAY = 3, BUFFER_BITS = 79 };
  GstBitReader reader = GST_BIT_READER_INIT (data, size);
  guint version = 1, unit;

  gst_bit_reader_skip (&reader, 9);
  if (take_bits (&reader, 1)) {
    version = take_bits (&reader, 4);
    gst_bit_reader_skip (&reader, 3);
  }
  if (take_bits (&reader, 4) == EXTENDED)
    gst_bit_reader_skip (&reader, 16);
  if (take_bits (&reader, 1)) {
    gst_bit_reader_skip (&reader, 3);
    if (take_bits (&reader, 1))
      gst_bit_reader_skip (&reader, BUFFER_BITS);
  }
  if (take_bits (&reader, 2) == GRAY && version != 1)
    gst_bit_reader_skip (&reader, 4);
  gst_bit_reader_skip (&reader, 1);
  unit = take_bits (&reader, 16);
  return unit > 1 ? g_bit_storage (unit - 1) : unit;
}

static SpdlVop
read_picture (const guint8 *data, gsize size, guint time_bits)
{
  static const SpdlVop vops[] = { SPDL_VOP_WHOLE, SPDL_VOP_REFERENCE,
    SPDL_VOP_BETWEEN, SPDL_VOP_REFERENCE };
  GstBitReader reader = GST_BIT_READER_INIT (data, size);
  const guint kind = take_bits (&reader, 2);

  while (take_bits (&reader, 1))
    ;
  gst_bit_reader_skip (&reader, 1 + time_bits + 1);
  return take_bits (&reader, 1) ? vops[kind] : SPDL_VOP_NONE;
}

gboolean
spdl_vops_begin (SpdlVops *self, const AVCodecParameters *codec)
{
  gsize header_size;

  *self = (SpdlVops){ 0 };
  if (codec->codec_id != AV_CODEC_ID_MPEG4)
    return FALSE;
  spdl_vops_take (self, codec->extradata, codec->extradata_size, &header_size);
  self->n_kept = 0;
  return TRUE;
}

SpdlVop
spdl_vops_take (
    SpdlVops *self, const guint8 *data, gsize size, gsize *header_size)
{
  SpdlVop vop = SPDL_VOP_NONE;
  gsize at = 0, end = G_MAXSIZE;
  gboolean has_layer = FALSE;

  while ((at = find_start_code (data, size, at)) < size) {
    const guint8 code = data[at++];

    if (code >= LAYER && code <= LAYER_END) {
      self->time_bits = read_time_bits (data + at, size - at);
      has_layer = TRUE;
    } else if (code == GROUP || code == VOP) {
      end = MIN (end, at - 4);
    }
    if (code != VOP || self->n_kept == SPDL_VOPS_MAX_KEPT)
      continue;
    vop = read_picture (data + at, size - at, self->time_bits);
    if (vop != SPDL_VOP_NONE)
      self->kept[self->n_kept++] = vop;
  }
  *header_size = has_layer && end < size ? end : 0;
  if (self->time_bits == 0)
    return SPDL_VOP_UNKNOWN;
  if (self->n_kept == 0)
    return SPDL_VOP_NONE;
  vop = self->kept[0];
  self->n_kept--;
  for (guint i = 0; i < self->n_kept; i++)
    self->kept[i] = self->kept[i + 1];
  return vop;
}
