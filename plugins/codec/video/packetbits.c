/* gst-spdl: frame types of video packets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/packetbits.h"

#include "plugins/codec/video/bits.h"

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
enum { SLICE = 1, KEY_SLICE = 5, SEI = 6, DELIMITER = 9, FILLER = 12 };
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
  SpdlBits bits = { data, size, 8 };
  guint type;

  spdl_bits_take_number (&bits);
  type = spdl_bits_take_number (&bits) % 5;
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
