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

guint
spdl_packet_get_length_size (const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (s, "stream-format");
  const GValue *value = gst_structure_get_value (s, "codec_data");
  guint size = 0;
  GstMapInfo map;

  if (!gst_structure_has_name (s, "video/x-h264") || !value ||
      g_strcmp0 (format, "avc") != 0 ||
      !gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ))
    return 0;
  if (map.size > 4)
    size = (map.data[4] & 3) + 1;
  gst_buffer_unmap (gst_value_get_buffer (value), &map);
  return size;
}

/* Slices that no other picture refers to, and nothing but slices and what goes
 * with one picture. */
gboolean
spdl_packet_is_spare (
    const gchar *type, guint length_size, const guint8 *data, gsize size)
{
  enum { SLICE = 1, SEI = 6, DELIMITER = 9, FILLER = 12 };
  gboolean has_slice = FALSE;

  if (length_size == 0)
    return FALSE;
  while (size > length_size) {
    gsize length = 0;
    guint unit;

    for (guint i = 0; i < length_size; i++)
      length = length << 8 | data[i];
    data += length_size;
    size -= length_size;
    if (length == 0 || length > size)
      return FALSE;
    unit = data[0] & 0x1f;
    if (unit == SLICE) {
      if (data[0] & 0x60)
        return FALSE;
      has_slice = TRUE;
    } else if (unit != SEI && unit != DELIMITER && unit != FILLER) {
      return FALSE;
    }
    data += length;
    size -= length;
  }
  return has_slice;
}
