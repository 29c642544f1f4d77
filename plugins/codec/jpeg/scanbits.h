/* gst-spdl: bits and Huffman codes of a JPEG's scan
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdio.h>
#include <glib.h>
#include <jpeglib.h>
#include <string.h>

G_BEGIN_DECLS

/* Bit reader with a 64-bit window, of which `n` bits are valid. The bits after
 * them are either the beginning of the next byte or zeros. All functions are
 * inline and take the struct by value, so that it stays in registers. */
typedef struct {
  guint64 window; /* the next bit is the most significant one */
  guint n;
  guint n_padding; /* zero bits appended after the end of the data */
  const guint8 *next, *end;
} SpdlBits;

/* Minimum number of valid bits after spdl_bits_fill(). */
#define SPDL_BITS_FILLED 56

static inline SpdlBits
spdl_bits_begin (const guint8 *data, const guint8 *end)
{
  return (SpdlBits){ 0, 0, 0, data, end };
}

/* Fills the window byte by byte. 0xff 0x00 is a data byte of 0xff; 0xff with
 * any other value is a marker, which ends the data. */
static __attribute__ ((noinline)) SpdlBits
spdl_bits_fill_bytes (SpdlBits self)
{
  while (self.n < SPDL_BITS_FILLED) {
    const gsize n_left = self.end - self.next;

    if (n_left == 0 ||
        (self.next[0] == 0xff && (n_left == 1 || self.next[1] != 0))) {
      self.n_padding += 63 - self.n;
      self.n = 63;
      break;
    }
    self.window |= (guint64) self.next[0] << (56 - self.n);
    self.next += self.next[0] == 0xff ? 2 : 1;
    self.n += 8;
  }
  return self;
}

static inline gboolean
spdl_bits_has_ff (guint64 bytes)
{
  const guint64 lows = G_GUINT64_CONSTANT (0x0101010101010101);

  return (bytes & (~bytes - lows) & (lows << 7)) != 0;
}

/* Makes at least SPDL_BITS_FILLED bits valid. */
static inline SpdlBits
spdl_bits_fill (SpdlBits self)
{
  guint64 bytes;

  if (G_UNLIKELY (self.end - self.next < 8))
    return spdl_bits_fill_bytes (self);
  memcpy (&bytes, self.next, 8);
  if (G_UNLIKELY (spdl_bits_has_ff (bytes)))
    return spdl_bits_fill_bytes (self);
  self.window |= GUINT64_FROM_BE (bytes) >> self.n;
  self.next += (63 - self.n) / 8;
  self.n |= 56;
  return self;
}

/* Returns the next @n bits, 1 to 32. */
static inline guint
spdl_bits_peek (SpdlBits self, guint n)
{
  return self.window >> (64 - n);
}

static inline SpdlBits
spdl_bits_drop (SpdlBits self, guint n)
{
  self.window <<= n;
  self.n -= n;
  return self;
}

/* Returns whether bits after the end of the data were consumed. */
static inline gboolean
spdl_bits_is_exhausted (const SpdlBits *self)
{
  return self->n_padding > self->n;
}

/* Finds the end of the restart marker number *@number, which must directly
 * follow the last bits, and advances the number. Returns: (nullable) */
static inline const guint8 *
spdl_bits_find_restart (const SpdlBits *self, guint *number)
{
  const guint8 *at = self->next;

  if (self->n - self->n_padding >= 8 || self->end - at < 2 || at[0] != 0xff ||
      at[1] != JPEG_RST0 + *number)
    return NULL;
  *number = (*number + 1) % 8;
  return at + 2;
}

/* Returns the coefficient for @size extra bits, 0 to 16, at offset @at in the
 * 64 @bits. This is EXTEND in the JPEG standard. */
static inline gint
spdl_bits_extend (guint64 bits, guint at, guint size)
{
  const guint64 left = bits << at;
  const gint64 sign = ~(gint64) left >> 63;

  /* 0 if there are no extra bits */
  return (gint) (((left ^ sign) >> 1 >> (63 - size)) ^ sign) - (gint) sign;
}

/* Huffman codes */

#define SPDL_CODES_MAX_LENGTH 16

/* The codes of a table, in order of increasing length. */
typedef struct {
  /* As in the file; counts[0] is not used. */
  guint8 counts[SPDL_CODES_MAX_LENGTH + 1];
  guint8 symbols[256];
  /* For each length: the end of its codes, padded to 16 bits, and the offset
   * from a code to the index of its symbol. */
  guint32 ends[SPDL_CODES_MAX_LENGTH + 1];
  gint32 offsets[SPDL_CODES_MAX_LENGTH + 1];
} SpdlCodes;

/* Assigns codes to the symbols, and calls @add for those of at most @lookahead
 * bits. Returns FALSE if this is not a prefix code. */
static inline gboolean
spdl_codes_assign (SpdlCodes *self, guint lookahead,
    void (*add) (gpointer table, guint code, guint length, guint symbol),
    gpointer table)
{
  guint code = 0, n = 0;

  for (guint length = 1; length <= SPDL_CODES_MAX_LENGTH;
       length++, code <<= 1) {
    const guint count = self->counts[length];

    if (n + count > 256 || code + count > 1u << length)
      return FALSE;
    self->offsets[length] = (gint) n - (gint) code;
    for (guint i = 0; i < count && length <= lookahead; i++)
      add (table, code + i, length, self->symbols[n + i]);
    n += count;
    code += count;
    self->ends[length] = code << (SPDL_CODES_MAX_LENGTH - length);
  }
  return TRUE;
}

/* Finds the code with at least *@length bits at the beginning of the 64 @bits,
 * and sets its length; 0: there is none. Returns its symbol. */
static inline guint
spdl_codes_find (const SpdlCodes *self, guint64 bits, guint *length)
{
  const guint code = bits >> (64 - SPDL_CODES_MAX_LENGTH);

  while (*length <= SPDL_CODES_MAX_LENGTH && code >= self->ends[*length])
    (*length)++;
  if (*length > SPDL_CODES_MAX_LENGTH) {
    *length = 0;
    return 0;
  }
  return self->symbols[(gint) (code >> (SPDL_CODES_MAX_LENGTH - *length)) +
                       self->offsets[*length]];
}

G_END_DECLS
