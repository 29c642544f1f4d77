/* gst-spdl: what a packet's bits say
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlpacketbits.h"

/* VP8's frame tag. */
static gboolean
is_hidden_vp8 (const guint8 *data, gsize size)
{
  return size > 0 && !(data[0] & 0x10);
}

/* The frame header's first bits; a superframe ends in one that is shown. */
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
spdl_packet_is_hidden (const gchar *type, const guint8 *data, gsize size)
{
  if (g_strcmp0 (type, "video/x-vp8") == 0)
    return is_hidden_vp8 (data, size);
  if (g_strcmp0 (type, "video/x-vp9") == 0)
    return is_hidden_vp9 (data, size);
  return FALSE;
}

SpdlPacketUnits
spdl_packet_units_of (const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (s, "stream-format");
  const GValue *value = gst_structure_get_value (s, "codec_data");
  const gboolean is_h265 = gst_structure_has_name (s, "video/x-h265");
  const gboolean is_h264 = gst_structure_has_name (s, "video/x-h264");
  /* Where the configuration says it. */
  const gsize at = is_h265 ? 21 : 4;
  SpdlPacketUnits units = { 0, is_h265 };
  GstMapInfo map;

  if (!(is_h265 ? g_strcmp0 (format, "hvc1") == 0 ||
                      g_strcmp0 (format, "hev1") == 0
                : is_h264 && g_strcmp0 (format, "avc") == 0) ||
      !value ||
      !gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ))
    return units;
  if (map.size > at)
    units.length_size = (map.data[at] & 3) + 1;
  gst_buffer_unmap (gst_value_get_buffer (value), &map);
  return units;
}

/* Kinds of units of H.264, and the pictures of H.265 at which decoding may
 * begin. */
enum { SLICE = 1, KEY_SLICE = 5, SEI = 6, DELIMITER = 9, FILLER = 12 };
enum { FIRST_KEY_H265 = 16, LAST_KEY_H265 = 23, FIRST_PARAMETERS_H265 = 32 };

/* A unit of a packet, and what is behind it. */
typedef struct {
  const guint8 *data;
  gsize size;
  const guint8 *rest;
  gsize rest_size;
} Unit;

/* FALSE if there is none, or it is cut off. */
static gboolean
next_unit (Unit *self, guint length_size)
{
  gsize length = 0;

  if (length_size == 0 || self->rest_size <= length_size)
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

/* Slices that no other picture refers to, and nothing but slices and what goes
 * with one picture. */
gboolean
spdl_packet_is_spare (
    const SpdlPacketUnits *units, const guint8 *data, gsize size)
{
  Unit unit = { .rest = data, .rest_size = size };
  gboolean has_slice = FALSE;

  while (!units->is_h265 && next_unit (&unit, units->length_size)) {
    const guint kind = unit.data[0] & 0x1f;

    if (kind == SLICE && !(unit.data[0] & 0x60))
      has_slice = TRUE;
    else if (kind != SEI && kind != DELIMITER && kind != FILLER)
      return FALSE;
  }
  return has_slice && unit.rest_size == 0;
}

/* A recovery point that says, in its first bit, that it is no whole picture. */
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

/* Reads the first two numbers of a slice's header, of which the second one is
 * its kind: of 10 kinds those of 2 and 4 modulo 5 are made from nothing else.
 */
static gboolean
is_made_from_others (const guint8 *data, gsize size)
{
  guint at = 8, number = 0;

  for (guint i = 0; i < 2; i++) {
    guint zeros = 0;

    while (at < size * 8 && !(data[at / 8] >> (7 - at % 8) & 1)) {
      zeros++;
      at++;
    }
    number = 0;
    for (guint n = 0; n <= zeros && zeros < 16 && at < size * 8; n++, at++)
      number = number << 1 | (data[at / 8] >> (7 - at % 8) & 1);
  }
  return number > 0 && (number - 1) % 5 != 2 && (number - 1) % 5 != 4;
}

static gboolean
is_false_key_h264 (guint length_size, const guint8 *data, gsize size)
{
  Unit unit = { .rest = data, .rest_size = size };

  while (next_unit (&unit, length_size)) {
    const guint kind = unit.data[0] & 0x1f;

    if (kind == KEY_SLICE)
      return FALSE;
    if ((kind == SEI && has_gradual_point (unit.data, unit.size)) ||
        (kind == SLICE && is_made_from_others (unit.data, unit.size)))
      return TRUE;
  }
  return FALSE;
}

/* Units with slices come before the number of those with parameters. */
static gboolean
is_false_key_h265 (guint length_size, const guint8 *data, gsize size)
{
  Unit unit = { .rest = data, .rest_size = size };

  while (next_unit (&unit, length_size)) {
    const guint kind = unit.data[0] >> 1 & 0x3f;

    if (kind < FIRST_PARAMETERS_H265)
      return kind < FIRST_KEY_H265 || kind > LAST_KEY_H265;
  }
  return FALSE;
}

gboolean
spdl_packet_is_false_key (
    const SpdlPacketUnits *units, const guint8 *data, gsize size)
{
  return (units->is_h265 ? is_false_key_h265 : is_false_key_h264) (
      units->length_size, data, size);
}
