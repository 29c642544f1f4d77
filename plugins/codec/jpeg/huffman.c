/* gst-spdl: lookup tables for the Huffman codes of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/huffman.h"

#include <string.h>

/* Symbol for 16 zeros. */
#define ZRL 0xf0

/* Returns how far a symbol advances the zigzag index: run + 1, except for
 * EOB. */
static guint
get_step (const SpdlHuffman *self, guint symbol)
{
  if (self->is_dc)
    return 0;
  if ((symbol & 15) == 0 && symbol != ZRL)
    return SPDL_HUFFMAN_EOB;
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
add_code (SpdlHuffman *self, guint code, guint length, guint symbol)
{
  const guint n_free = SPDL_HUFFMAN_LOOKAHEAD - length;
  SpdlHuffmanEntry *to = self->entries + (code << n_free);
  SpdlHuffmanEntry entry = make_entry (self, length, symbol);

  if (entry.length > SPDL_HUFFMAN_MAX_LOOKUP_BITS)
    entry.length = 0;
  for (guint i = 0; i < 1u << n_free; i++)
    to[i] = entry;
}

/* Assigns codes to the symbols in order of increasing length. */
static gboolean
build_lookup (SpdlHuffman *self)
{
  guint code = 0, n = 0;

  memset (self->entries, 0, sizeof self->entries);
  for (guint length = 1; length <= 16; length++, code <<= 1) {
    const guint count = self->counts[length];

    if (n + count > 256 || code + count > 1u << length)
      return FALSE;
    self->offsets[length] = (gint) n - (gint) code;
    for (guint i = 0; i < count && length <= SPDL_HUFFMAN_LOOKAHEAD; i++)
      add_code (self, code + i, length, self->symbols[n + i]);
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
  /* No code has length 0, so counts[0] records whether `entries` are valid. */
  self->counts[0] = build_lookup (self);
  return self->counts[0];
}

/* Looks up the code at offset @at in @bits, which has @n_bits bits, at least
 * SPDL_HUFFMAN_LOOKAHEAD. */
static SpdlHuffmanEntry
look_up_bits (const SpdlHuffman *self, guint bits, guint n_bits, guint at)
{
  /* Zeros follow the last bit; the caller checks the length. */
  const guint left = (bits << at) & ((1u << n_bits) - 1);

  return self->entries[left >> (n_bits - SPDL_HUFFMAN_LOOKAHEAD)];
}

static SpdlHuffmanPair
make_pair (const SpdlHuffman *self, guint i)
{
  const SpdlHuffmanEntry first =
      look_up_bits (self, i, SPDL_HUFFMAN_PAIR_LOOKAHEAD, 0);
  SpdlHuffmanEntry last;

  if (first.length == 0)
    return (SpdlHuffmanPair){ .step = SPDL_HUFFMAN_INVALID };
  if (first.step < SPDL_HUFFMAN_EOB &&
      first.length < SPDL_HUFFMAN_PAIR_LOOKAHEAD) {
    last = look_up_bits (self, i, SPDL_HUFFMAN_PAIR_LOOKAHEAD, first.length);
    if (last.length > 0 &&
        first.length + last.code <= SPDL_HUFFMAN_PAIR_LOOKAHEAD &&
        first.length + last.length <= SPDL_HUFFMAN_MAX_LOOKUP_BITS)
      return (SpdlHuffmanPair){ first.length + last.length, first.step,
        last.step, first.length + last.code, last.size,
        spdl_huffman_extend ((guint64) i << (64 - SPDL_HUFFMAN_PAIR_LOOKAHEAD),
            first.code, first.size) };
  }
  return (SpdlHuffmanPair){ first.length, first.step, 0, first.code, first.size,
    0 };
}

void
spdl_huffman_build_pairs (SpdlHuffman *self)
{
  for (guint i = 0; i < SPDL_HUFFMAN_N_PAIRS && !self->has_pairs; i++)
    self->pairs[i] = make_pair (self, i);
  self->has_pairs = TRUE;
}

/* Returns the codes that fit in the lookahead @i. */
static SpdlHuffmanSkip
make_skip (const SpdlHuffman *self, guint i)
{
  SpdlHuffmanSkip skip = { 0, 0 };

  while (skip.step < 64) {
    const SpdlHuffmanEntry entry =
        look_up_bits (self, i, SPDL_HUFFMAN_SKIP_LOOKAHEAD, skip.length);

    if (entry.length == 0 ||
        skip.length + entry.length > SPDL_HUFFMAN_SKIP_LOOKAHEAD)
      break;
    skip.length += entry.length;
    skip.step += entry.step;
  }
  return skip;
}

void
spdl_huffman_build_skips (SpdlHuffman *self)
{
  for (guint i = 0; i < SPDL_HUFFMAN_N_SKIPS; i++)
    self->skips[i] = make_skip (self, i);
  self->has_skips = TRUE;
}

SpdlHuffmanEntry
spdl_huffman_find_long_code (const SpdlHuffman *self, guint64 bits, guint least)
{
  const guint code = bits >> 48;
  guint length = least;

  while (length <= 16 && code >= self->ends[length])
    length++;
  if (length > 16)
    return (SpdlHuffmanEntry){ 0, SPDL_HUFFMAN_INVALID, 0, 0 };
  return make_entry (self, length,
      self->symbols[(gint) (code >> (16 - length)) + self->offsets[length]]);
}
