/* gst-spdl: Huffman codes of a JPEG, as tables to look up
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlhuffman.h"

#include <string.h>

/* The symbol of a run of zeros that no value follows. */
#define ZEROS 0xf0

static void
fill (SpdlHuffmanEntry *to, guint n, SpdlHuffmanEntry entry)
{
  for (guint i = 0; i < n; i++)
    to[i] = entry;
}

/* By how many coefficients the value of a symbol lies further. */
static guint
get_step (const SpdlHuffman *self, guint symbol)
{
  if (self->is_dc)
    return 0;
  if ((symbol & 15) == 0 && symbol != ZEROS)
    return SPDL_HUFFMAN_END;
  return (symbol >> 4) + 1;
}

/* The entries of a code of @length bits: where they have room for the value,
 * one for each. */
static void
fill_code (SpdlHuffman *self, SpdlHuffmanEntry *to, guint length, guint symbol)
{
  const guint n_free = SPDL_HUFFMAN_BITS - length;
  const guint size = symbol & 15;

  if (size > n_free) {
    fill (to, 1 << n_free, (SpdlHuffmanEntry){ 0, 0, length });
    return;
  }
  for (guint i = 0; i < 1u << size; i++) {
    const gint value =
        size > 0 ? spdl_huffman_extend (i << (32 - size), size) : 0;
    const guint n = 1 << (n_free - size);

    fill (to + i * n, n,
        (SpdlHuffmanEntry){ length + size, get_step (self, symbol), value });
  }
}

/* Gives each symbol its code, one after the other and from the shortest on. */
static gboolean
assign_codes (SpdlHuffman *self)
{
  guint code = 0, n = 0;

  memset (self->entries, 0, sizeof self->entries);
  for (guint length = 1; length <= 16; length++, code <<= 1) {
    const guint count = self->counts[length];

    if (n + count > 256 || code + count > 1u << length)
      return FALSE;
    self->offsets[length] = (gint) n - (gint) code;
    for (guint i = 0; i < count && length <= SPDL_HUFFMAN_BITS; i++)
      fill_code (self,
          self->entries + ((code + i) << (SPDL_HUFFMAN_BITS - length)), length,
          self->symbols[n + i]);
    n += count;
    code += count;
    self->ends[length] = code << (16 - length);
  }
  return TRUE;
}

gboolean
spdl_huffman_set (SpdlHuffman *self, const guint8 *counts,
    const guint8 *symbols, gboolean is_dc)
{
  if (self->is_dc == is_dc && self->counts[0] != 0 &&
      memcmp (self->counts + 1, counts + 1, 16) == 0 &&
      memcmp (self->symbols, symbols, 256) == 0)
    return TRUE;
  memcpy (self->counts, counts, 17);
  memcpy (self->symbols, symbols, 256);
  self->is_dc = is_dc;
  self->has_skips = FALSE;
  /* No code has 0 bits: here it says whether the tables are made. */
  self->counts[0] = assign_codes (self);
  return self->counts[0];
}

/* As many of the codes with which the bits of place @i begin as they hold. */
static SpdlHuffmanSkip
chain_at (const SpdlHuffman *self, guint i)
{
  SpdlHuffmanSkip skip = { 0, 0 };

  while (skip.step < 64) {
    /* Behind the last bits are zeros, of which nothing may be taken. */
    const guint bits = (i << skip.length) & (SPDL_HUFFMAN_N_SKIPS - 1);
    const SpdlHuffmanEntry *entry =
        &self->entries[bits >> (SPDL_HUFFMAN_SKIP_BITS - SPDL_HUFFMAN_BITS)];

    if (entry->length == 0 ||
        skip.length + entry->length > SPDL_HUFFMAN_SKIP_BITS)
      break;
    skip.length += entry->length;
    skip.step += entry->step;
  }
  return skip;
}

void
spdl_huffman_chain (SpdlHuffman *self)
{
  for (guint i = 0; i < SPDL_HUFFMAN_N_SKIPS; i++)
    self->skips[i] = chain_at (self, i);
  self->has_skips = TRUE;
}

SpdlHuffmanEntry
spdl_huffman_find (const SpdlHuffman *self, guint64 bits, guint least)
{
  const guint code = bits >> 48;
  guint length = least, symbol, size;

  while (length <= 16 && code >= self->ends[length])
    length++;
  if (length > 16)
    return (SpdlHuffmanEntry){ 0, SPDL_HUFFMAN_BAD, 0 };
  symbol =
      self->symbols[(gint) (code >> (16 - length)) + self->offsets[length]];
  size = symbol & 15;
  return (SpdlHuffmanEntry){ length + size, get_step (self, symbol),
    size > 0 ? spdl_huffman_extend (bits << length >> 32, size) : 0 };
}
