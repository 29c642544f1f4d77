/* gst-spdl: bits in units of H.264
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at;         /* in bits */
  gboolean is_over; /* a read exceeded the data */
} SpdlBits;

/* Reads @n bits and returns the last 32 of them. Skips emulation prevention
 * bytes: 3 after two zero bytes. */
static inline guint32
spdl_bits_take (SpdlBits *self, guint n)
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
static inline guint32
spdl_bits_take_number (SpdlBits *self)
{
  guint zeros = 0;

  while (!self->is_over && spdl_bits_take (self, 1) == 0)
    self->is_over = ++zeros > 31;
  return self->is_over ? 0 : (1u << zeros) - 1 + spdl_bits_take (self, zeros);
}

G_END_DECLS
