/* gst-spdl: Huffman codes of a JPEG, as tables to look up
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The bits that are looked up at once: nearly all codes of photographs are no
 * longer, without the value that follows. */
#define SPDL_HUFFMAN_BITS 11
#define SPDL_HUFFMAN_N_ENTRIES (1 << SPDL_HUFFMAN_BITS)

/* The most bits of a code and its value: of any, and of those that are found by
 * one look. */
#define SPDL_HUFFMAN_LONGEST 31
#define SPDL_HUFFMAN_LONGEST_KNOWN 18

/* The same, for two codes. */
#define SPDL_HUFFMAN_PAIR_BITS 11
#define SPDL_HUFFMAN_N_PAIRS (1 << SPDL_HUFFMAN_PAIR_BITS)

/* The same, where values do not count. */
#define SPDL_HUFFMAN_SKIP_BITS 12
#define SPDL_HUFFMAN_N_SKIPS (1 << SPDL_HUFFMAN_SKIP_BITS)

/* The step of a code that ends a block, and of what is no code: both lead
 * behind any block, and apart. */
#define SPDL_HUFFMAN_END 128
#define SPDL_HUFFMAN_BAD 64

/* What some bits begin with: a code of `code` bits, and then a value of `size`,
 * `length` in all, which lies `step` coefficients further. It is 0 where one
 * look does not suffice; then `code` may be 0, too, where the code is longer.
 */
typedef struct {
  guint8 length;
  guint8 step;
  guint8 code;
  guint8 size;
} SpdlHuffmanEntry;

/* One code, or two, of which the second one's value may lie behind the bits
 * that are looked up: `length` bits in all. Two: `value`, `step` coefficients
 * further, and `last_step` behind that a value of `size` bits, `at` bits from
 * here on. One: only the latter, and `last_step` is 0; whoever stores `value`
 * before it need not ask. Ends of blocks, and codes that SpdlHuffmanEntry does
 * not know, have a step that leads behind any block. */
typedef struct {
  guint8 length;
  guint8 step;
  guint8 last_step;
  guint8 at;
  guint8 size;
  gint16 value;
} SpdlHuffmanPair;

/* Several codes at once, where nobody asks for the values: their bits, and by
 * how many coefficients they go on; with SPDL_HUFFMAN_END on top where the last
 * one ends the block. No bits: one code is too long. */
typedef struct {
  guint8 length;
  guint8 step;
} SpdlHuffmanSkip;

typedef struct {
  SpdlHuffmanEntry entries[SPDL_HUFFMAN_N_ENTRIES];
  SpdlHuffmanPair pairs[SPDL_HUFFMAN_N_PAIRS];
  SpdlHuffmanSkip skips[SPDL_HUFFMAN_N_SKIPS];
  gboolean has_pairs, has_skips;
  /* Of each length the end of its codes, padded to 16 bits, and what makes a
   * code of it the place of its symbol. */
  guint32 ends[17];
  gint32 offsets[17];
  /* As they stand in the file. */
  guint8 counts[17];
  guint8 symbols[256];
  gboolean is_dc;
} SpdlHuffman;

/* @counts: how many codes there are of each length, from [1] on; @symbols: 256
 * of them, in the order of the codes. Returns FALSE where those are no code.
 * Does nothing where they are the same as before. */
gboolean spdl_huffman_set (SpdlHuffman *self, const guint8 *counts,
    const guint8 *symbols, gboolean is_dc);

/* Makes `pairs`, if they are not there. */
void spdl_huffman_make_pairs (SpdlHuffman *self);

/* Makes `skips`. */
void spdl_huffman_chain (SpdlHuffman *self);

static inline void
spdl_huffman_make_skips (SpdlHuffman *self)
{
  if (G_UNLIKELY (!self->has_skips))
    spdl_huffman_chain (self);
}

/* The code of @least bits or more with which 64 bits begin, without a look at
 * the tables above. Its length is 0 if there is none. */
SpdlHuffmanEntry
spdl_huffman_find (const SpdlHuffman *self, guint64 bits, guint least);

/* The value that @size of 64 @bits mean, 0 to 16, behind the first @at. */
static inline gint
spdl_huffman_get_value (guint64 bits, guint at, guint size)
{
  const guint64 left = bits << at;
  const gint64 sign = ~(gint64) left >> 63;

  /* Of no bits, it is 0. */
  return (gint) (((left ^ sign) >> 1 >> (63 - size)) ^ sign) - (gint) sign;
}

G_END_DECLS
