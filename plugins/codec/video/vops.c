/* gst-spdl: VOPs (frames) in packets of MPEG-4 part 2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/vops.h"

#include <gst/base/gstbitreader.h>

/* Last bytes of start codes. */
enum { LAYER = 0x20, LAYER_END = 0x2f, GROUP = 0xb3, PICTURE = 0xb6 };

/* Returns the offset after the next start code from @at on, or 0.
 * @code: (out): last byte of the start code */
static gsize
find_code (const guint8 *data, gsize size, gsize at, guint8 *code)
{
  /* A byte above 1 is not part of a start code, so three offsets are
   * skipped. */
  for (; at + 3 < size; at += data[at + 2] > 1 ? 3 : 1) {
    if (data[at] == 0 && data[at + 1] == 0 && data[at + 2] == 1) {
      *code = data[at + 3];
      return at + 4;
    }
  }
  return 0;
}

static guint
take_bits (GstBitReader *reader, guint n)
{
  guint32 bits = 0;

  gst_bit_reader_get_bits_uint32 (reader, &bits, n);
  return bits;
}

typedef struct {
  guint time_bits;     /* 0: the header is truncated */
  guint width, height; /* 0: not specified */
} Layer;

/* Reads the header of a video object layer up to the frame size. */
static Layer
read_layer (const guint8 *data, gsize size)
{
  enum { EXTENDED = 15, RECTANGLE = 0, GRAY = 3, BUFFER_BITS = 79 };
  GstBitReader reader = GST_BIT_READER_INIT (data, size);
  guint version = 1, shape, unit;
  Layer layer = { 0 };

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
  shape = take_bits (&reader, 2);
  if (version != 1 && shape == GRAY)
    gst_bit_reader_skip (&reader, 4);
  gst_bit_reader_skip (&reader, 1);
  unit = take_bits (&reader, 16);
  layer.time_bits = unit > 1 ? g_bit_storage (unit - 1) : unit;
  gst_bit_reader_skip (&reader, 1);
  if (take_bits (&reader, 1))
    gst_bit_reader_skip (&reader, layer.time_bits);
  if (shape == RECTANGLE) {
    gst_bit_reader_skip (&reader, 1);
    layer.width = take_bits (&reader, 13);
    gst_bit_reader_skip (&reader, 1);
    layer.height = take_bits (&reader, 13);
  }
  return layer;
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
spdl_vops_begin (SpdlVops *self, const GstCaps *caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const GValue *value = gst_structure_get_value (s, "codec_data");
  gint version = 4;
  gsize header_size;
  GstMapInfo map;

  *self = (SpdlVops){ 0 };
  if (gst_structure_has_name (s, "video/mpeg"))
    gst_structure_get_int (s, "mpegversion", &version);
  else if (gst_structure_has_name (s, "video/x-divx"))
    gst_structure_get_int (s, "divxversion", &version);
  else if (!gst_structure_has_name (s, "video/x-xvid"))
    return FALSE;
  if (version < 4)
    return FALSE;
  if (value &&
      gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ)) {
    spdl_vops_take (self, map.data, map.size, &header_size);
    gst_buffer_unmap (gst_value_get_buffer (value), &map);
    self->n_kept = 0;
  }
  return TRUE;
}

SpdlVop
spdl_vops_take (
    SpdlVops *self, const guint8 *data, gsize size, gsize *header_size)
{
  SpdlVop vop = SPDL_VOP_NONE;
  gsize at = 0, end = G_MAXSIZE;
  gboolean has_layer = FALSE;
  guint8 code;

  while ((at = find_code (data, size, at, &code)) > 0) {
    if (code >= LAYER && code <= LAYER_END) {
      self->time_bits = read_layer (data + at, size - at).time_bits;
      has_layer = TRUE;
    } else if (code == GROUP || code == PICTURE) {
      end = MIN (end, at - 4);
    }
    if (code != PICTURE || self->n_kept == SPDL_VOPS_MAX_KEPT)
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

gboolean
spdl_vops_find_size (
    const guint8 *data, gsize size, guint *width, guint *height)
{
  gsize at = 0;
  guint8 code;

  while ((at = find_code (data, size, at, &code)) > 0) {
    Layer layer;

    if (code < LAYER || code > LAYER_END)
      continue;
    layer = read_layer (data + at, size - at);
    *width = layer.width;
    *height = layer.height;
    return layer.width > 0 && layer.height > 0;
  }
  return FALSE;
}
