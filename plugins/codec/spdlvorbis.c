/* gst-spdl: the packets of Vorbis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlvorbis.h"

#include <string.h>

#include "gst/spdl/engine/spdlbytes.h"

#define MODE_BITS 41

/* The setup ends with its modes, and there is no way to them from its front but
 * through all codebooks: it is read from its end, bit by bit. */
typedef struct {
  const guint8 *data;
  gsize at; /* bits before it are not read yet */
} Backwards;

static guint
read_bits (Backwards *self, guint n)
{
  guint value = 0;

  for (; n > 0; n--) {
    self->at--;
    value = value << 1 | (self->data[self->at / 8] >> self->at % 8 & 1);
  }
  return value;
}

/* A mode's mapping, its two types, which are 0, and whether its block is long,
 * in this order from its end. */
static gboolean
read_mode (Backwards *bits, guint8 *is_long)
{
  if (bits->at < MODE_BITS + 6)
    return FALSE;
  if (read_bits (bits, 8) > 63 || read_bits (bits, 16) != 0 ||
      read_bits (bits, 16) != 0)
    return FALSE;
  *is_long = read_bits (bits, 1);
  return TRUE;
}

/* As many modes as the number before them says: where several numbers would do,
 * the largest one. */
static gboolean
read_modes (SpdlVorbis *self, const guint8 *setup, gsize size)
{
  Backwards bits = { setup, size * 8 };
  guint8 is_long[64];
  guint n = 0, found = 0;

  while (bits.at > 0 && read_bits (&bits, 1) == 0)
    ;
  while (n < 64 && read_mode (&bits, &is_long[n])) {
    Backwards number = bits;

    n++;
    if (read_bits (&number, 6) + 1 == n)
      found = n;
  }
  if (found == 0)
    return FALSE;
  self->n_modes = found;
  for (guint i = 0; i < found; i++)
    self->is_long[i] = is_long[found - 1 - i];
  while (1u << self->n_mode_bits < found)
    self->n_mode_bits++;
  return TRUE;
}

gboolean
spdl_vorbis_init (SpdlVorbis *self, const guint8 *id, gsize id_size,
    const guint8 *setup, gsize setup_size)
{
  memset (self, 0, sizeof *self);
  if (id_size < 30 || memcmp (id, "\1vorbis", 7) != 0 || setup_size < 8 ||
      memcmp (setup, "\5vorbis", 7) != 0)
    return FALSE;
  self->n_channels = id[11];
  self->rate = spdl_read_32_le (id + 12);
  self->sizes[0] = 1u << (id[28] & 15);
  self->sizes[1] = 1u << (id[28] >> 4);
  return self->rate > 0 && self->rate <= G_MAXINT && self->n_channels > 0 &&
         read_modes (self, setup + 7, setup_size - 7);
}

guint
spdl_vorbis_count (SpdlVorbis *self, const guint8 *packet, gsize size)
{
  guint mode, block, n;

  if (size == 0 || packet[0] & 1)
    return 0;
  mode = packet[0] >> 1 & ((1u << self->n_mode_bits) - 1);
  if (mode >= self->n_modes)
    return 0;
  block = self->sizes[self->is_long[mode]];
  n = self->previous > 0 ? (self->previous + block) / 4 : 0;
  self->previous = block;
  return n;
}
