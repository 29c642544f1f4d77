/* gst-spdl: numbers of pictures in H.264
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/framenumbers.h"

#include "plugins/codec/video/bits.h"

enum { SLICE = 1, KEY_SLICE = 5, PARAMETERS = 7 };

static void
skip_scaling_list (SpdlBits *bits, guint n)
{
  guint32 last = 8, next = 8;

  for (guint i = 0; i < n && next != 0 && !bits->is_over; i++) {
    const guint32 number = spdl_bits_take_number (bits);
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
  SpdlBits bits = { unit->data, unit->size, 8 };
  const guint profile = spdl_bits_take (&bits, 8);
  guint chroma = 1, n_bits, n;

  spdl_bits_take (&bits, 16);
  spdl_bits_take_number (&bits);
  self->has_planes = FALSE;
  if (has_chroma_format (profile)) {
    chroma = spdl_bits_take_number (&bits);
    if (chroma == ALL_PLANES)
      self->has_planes = spdl_bits_take (&bits, 1);
    spdl_bits_take_number (&bits);
    spdl_bits_take_number (&bits);
    spdl_bits_take (&bits, 1);
    if (spdl_bits_take (&bits, 1))
      for (guint i = 0; i < (chroma == ALL_PLANES ? 12 : 8); i++)
        if (spdl_bits_take (&bits, 1))
          skip_scaling_list (&bits, i < 6 ? 16 : 64);
  }
  n_bits = spdl_bits_take_number (&bits) + 4;
  n = spdl_bits_take_number (&bits);
  if (n == 0) {
    spdl_bits_take_number (&bits);
  } else if (n == CYCLE) {
    spdl_bits_take (&bits, 1);
    spdl_bits_take_number (&bits);
    spdl_bits_take_number (&bits);
    for (n = spdl_bits_take_number (&bits); n > 0 && !bits.is_over; n--)
      spdl_bits_take_number (&bits);
  }
  spdl_bits_take_number (&bits);
  self->may_skip = spdl_bits_take (&bits, 1);
  spdl_bits_take_number (&bits);
  spdl_bits_take_number (&bits);
  self->has_fields = !spdl_bits_take (&bits, 1);
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
  SpdlBits bits = { unit->data, unit->size, 8 };
  const guint mask = (1u << self->n_bits) - 1;
  gboolean is_field;
  guint number;

  for (guint i = 0; i < 3; i++)
    spdl_bits_take_number (&bits);
  if (self->has_planes)
    spdl_bits_take (&bits, 2);
  number = spdl_bits_take (&bits, self->n_bits);
  is_field = self->has_fields && spdl_bits_take (&bits, 1);
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
