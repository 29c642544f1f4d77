/* gst-spdl: Huffman codes of a JPEG, as tables to look up
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/huffman.h"

#include <string.h>

/* The symbol of a run of zeros that no value follows. */
#define ZEROS 0xf0

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

static SpdlHuffmanEntry
make_entry (const SpdlHuffman *self, guint length, guint symbol)
{
  const guint size = symbol & 15;

  return (
      SpdlHuffmanEntry){ length + size, get_step (self, symbol), length, size };
}

static void
fill_code (SpdlHuffman *self, guint code, guint length, guint symbol)
{
  const guint n_free = SPDL_HUFFMAN_BITS - length;
  SpdlHuffmanEntry *to = self->entries + (code << n_free);
  SpdlHuffmanEntry entry = make_entry (self, length, symbol);

  if (entry.length > SPDL_HUFFMAN_LONGEST_KNOWN)
    entry.length = 0;
  for (guint i = 0; i < 1u << n_free; i++)
    to[i] = entry;
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
      fill_code (self, code + i, length, self->symbols[n + i]);
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
  self->has_pairs = self->has_skips = FALSE;
  /* No code has 0 bits: here it says whether the tables are made. */
  self->counts[0] = assign_codes (self);
  return self->counts[0];
}

/* What @n_bits bits, of at least SPDL_HUFFMAN_BITS, have behind the first @at.
 */
static SpdlHuffmanEntry
look_up_at (const SpdlHuffman *self, guint bits, guint n_bits, guint at)
{
  /* Behind the last bits are zeros, of which nothing may be taken. */
  const guint left = (bits << at) & ((1u << n_bits) - 1);

  return self->entries[left >> (n_bits - SPDL_HUFFMAN_BITS)];
}

static SpdlHuffmanPair
pair_at (const SpdlHuffman *self, guint i)
{
  const SpdlHuffmanEntry first =
      look_up_at (self, i, SPDL_HUFFMAN_PAIR_BITS, 0);
  SpdlHuffmanEntry last;

  if (first.length == 0)
    return (SpdlHuffmanPair){ .step = SPDL_HUFFMAN_BAD };
  if (first.step < SPDL_HUFFMAN_END && first.length < SPDL_HUFFMAN_PAIR_BITS) {
    last = look_up_at (self, i, SPDL_HUFFMAN_PAIR_BITS, first.length);
    if (last.length > 0 && first.length + last.code <= SPDL_HUFFMAN_PAIR_BITS &&
        first.length + last.length <= SPDL_HUFFMAN_LONGEST_KNOWN)
      return (SpdlHuffmanPair){ first.length + last.length, first.step,
        last.step, first.length + last.code, last.size,
        spdl_huffman_get_value ((guint64) i << (64 - SPDL_HUFFMAN_PAIR_BITS),
            first.code, first.size) };
  }
  return (SpdlHuffmanPair){ first.length, first.step, 0, first.code, first.size,
    0 };
}

void
spdl_huffman_make_pairs (SpdlHuffman *self)
{
  for (guint i = 0; i < SPDL_HUFFMAN_N_PAIRS && !self->has_pairs; i++)
    self->pairs[i] = pair_at (self, i);
  self->has_pairs = TRUE;
}

/* As many of the codes with which the bits of place @i begin as they hold. */
static SpdlHuffmanSkip
chain_at (const SpdlHuffman *self, guint i)
{
  SpdlHuffmanSkip skip = { 0, 0 };

  while (skip.step < 64) {
    const SpdlHuffmanEntry entry =
        look_up_at (self, i, SPDL_HUFFMAN_SKIP_BITS, skip.length);

    if (entry.length == 0 ||
        skip.length + entry.length > SPDL_HUFFMAN_SKIP_BITS)
      break;
    skip.length += entry.length;
    skip.step += entry.step;
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
  guint length = least;

  while (length <= 16 && code >= self->ends[length])
    length++;
  if (length > 16)
    return (SpdlHuffmanEntry){ 0, SPDL_HUFFMAN_BAD, 0, 0 };
  return make_entry (self, length,
      self->symbols[(gint) (code >> (16 - length)) + self->offsets[length]]);
}
