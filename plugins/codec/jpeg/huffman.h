/* gst-spdl: lookup tables for the Huffman codes of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* entropy.c draws the tables and explains the terms. */

/* Bits of lookahead: nearly all codes of photographs are no longer, without
 * their extra bits. */
#define SPDL_HUFFMAN_LOOKAHEAD 11
#define SPDL_HUFFMAN_N_ENTRIES (1 << SPDL_HUFFMAN_LOOKAHEAD)
#define SPDL_HUFFMAN_PAIR_LOOKAHEAD 11
#define SPDL_HUFFMAN_N_PAIRS (1 << SPDL_HUFFMAN_PAIR_LOOKAHEAD)
#define SPDL_HUFFMAN_SKIP_LOOKAHEAD 12
#define SPDL_HUFFMAN_N_SKIPS (1 << SPDL_HUFFMAN_SKIP_LOOKAHEAD)

/* The most bits of a code and its extra bits, and of what one lookup finds. */
#define SPDL_HUFFMAN_MAX_BITS 31
#define SPDL_HUFFMAN_MAX_LOOKUP_BITS 18

/* The steps of EOB and of an invalid code. */
#define SPDL_HUFFMAN_EOB 128
#define SPDL_HUFFMAN_INVALID 64

/* A code of `code` bits with `size` extra bits, `length` bits in all. `length`
 * is 0 where a lookup does not suffice; `code` is then 0, too, where the code
 * itself is longer than the lookahead. */
typedef struct {
  guint8 length;
  guint8 step; /* run + 1 */
  guint8 code;
  guint8 size;
} SpdlHuffmanEntry;

/* Two codes, of `length` bits in all. The extra bits of the second one may lie
 * beyond the lookahead. Where there is only one code it is the second one, and
 * comes after nothing: `second_step` is 0, and `value` is stored at the place
 * that the code's own value then overwrites. A code that SpdlHuffmanEntry does
 * not know has the step of an invalid one. */
typedef struct {
  guint8 length;
  guint8 step;
  guint8 second_step;
  guint8 second_at; /* bits before the second code's extra bits */
  guint8 second_size;
  gint16 value; /* of the first code */
} SpdlHuffmanPair;

/* As many whole codes, with their extra bits, as fit in the lookahead: their
 * bits and the sum of their steps. The last one may be EOB. `length` is 0 where
 * the first code does not fit. */
typedef struct {
  guint8 length;
  guint8 step;
} SpdlHuffmanSkip;

typedef struct {
  SpdlHuffmanEntry entries[SPDL_HUFFMAN_N_ENTRIES];
  SpdlHuffmanPair pairs[SPDL_HUFFMAN_N_PAIRS];
  SpdlHuffmanSkip skips[SPDL_HUFFMAN_N_SKIPS];
  gboolean has_pairs, has_skips;
  /* For each length, the end of its codes, padded to 16 bits, and what is added
   * to a code to get the index of its symbol. */
  guint32 ends[17];
  gint32 offsets[17];
  /* As in the file. */
  guint8 counts[17];
  guint8 symbols[256];
  gboolean is_dc;
} SpdlHuffman;

/* Builds `entries`, unless the code is the same as before.
 *
 * @counts: the number of codes of each length, from [1] on
 * @symbols: 256, in the order of the codes
 *
 * Returns FALSE if these are not a prefix code. */
gboolean spdl_huffman_set (SpdlHuffman *self, const guint8 *counts,
    const guint8 *symbols, gboolean is_dc);

/* Builds `pairs`, unless they are built. */
void spdl_huffman_build_pairs (SpdlHuffman *self);

/* Builds `skips`. */
void spdl_huffman_build_skips (SpdlHuffman *self);

static inline void
spdl_huffman_need_skips (SpdlHuffman *self)
{
  if (G_UNLIKELY (!self->has_skips))
    spdl_huffman_build_skips (self);
}

/* Finds the code of @least bits or more that 64 @bits begin with, without the
 * lookup tables. Its length is 0 if there is none. */
SpdlHuffmanEntry spdl_huffman_find_long_code (
    const SpdlHuffman *self, guint64 bits, guint least);

/* The coefficient that @size extra bits mean, 0 to 16 of them, @at bits into 64
 * @bits: EXTEND of the JPEG standard. */
static inline gint
spdl_huffman_extend (guint64 bits, guint at, guint size)
{
  const guint64 left = bits << at;
  const gint64 sign = ~(gint64) left >> 63;

  /* 0 for no bits */
  return (gint) (((left ^ sign) >> 1 >> (63 - size)) ^ sign) - (gint) sign;
}

G_END_DECLS
