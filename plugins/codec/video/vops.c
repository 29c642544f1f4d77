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
  guint8 code;

  while ((at = find_code (data, size, at, &code)) > 0) {
    if (code >= LAYER && code <= LAYER_END) {
      self->time_bits = read_time_bits (data + at, size - at);
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
