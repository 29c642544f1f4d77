/* gst-spdl: lookup tables for the Huffman codes of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* entropy.c describes the tables and defines the terms. */

/* Lookahead in bits. In photographs, nearly all codes without their extra bits
 * are at most this long. */
#define SPDL_HUFFMAN_LOOKAHEAD 11
#define SPDL_HUFFMAN_N_ENTRIES (1 << SPDL_HUFFMAN_LOOKAHEAD)
#define SPDL_HUFFMAN_PAIR_LOOKAHEAD 11
#define SPDL_HUFFMAN_N_PAIRS (1 << SPDL_HUFFMAN_PAIR_LOOKAHEAD)
#define SPDL_HUFFMAN_SKIP_LOOKAHEAD 12
#define SPDL_HUFFMAN_N_SKIPS (1 << SPDL_HUFFMAN_SKIP_LOOKAHEAD)

/* Maximum number of bits in a code with its extra bits, and in the result of
 * one lookup. */
#define SPDL_HUFFMAN_MAX_BITS 31
#define SPDL_HUFFMAN_MAX_LOOKUP_BITS 18

/* Steps of EOB and of an invalid code. */
#define SPDL_HUFFMAN_EOB 128
#define SPDL_HUFFMAN_INVALID 64

/* A code of `code` bits with `size` extra bits, `length` bits in total.
 * `length` is 0 if the lookahead is too short; `code` is then 0 as well if the
 * code itself is longer than the lookahead. */
typedef struct {
  guint8 length;
  guint8 step; /* run + 1 */
  guint8 code;
  guint8 size;
} SpdlHuffmanEntry;

/* Two codes, of `length` bits in total. The extra bits of the second one may
 * extend past the lookahead. A single code is stored as the second one:
 * `second_step` is 0, and `value` is stored at a position that the value of the
 * code overwrites. If `entries` has no entry for the code, the step is that of
 * an invalid code. */
typedef struct {
  guint8 length;
  guint8 step;
  guint8 second_step;
  guint8 second_at; /* offset of the second code's extra bits */
  guint8 second_size;
  gint16 value; /* of the first code */
} SpdlHuffmanPair;

/* The complete codes, with extra bits, that fit in the lookahead: their total
 * length and the sum of their steps. The last one may be EOB. `length` is 0 if
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
  /* For each length: the end of its codes, padded to 16 bits, and the offset
   * from a code to the index of its symbol. */
  guint32 ends[17];
  gint32 offsets[17];
  /* As in the file. */
  guint8 counts[17];
  guint8 symbols[256];
  gboolean is_dc;
} SpdlHuffman;

/* Builds `entries`, unless the codes are unchanged.
 * @counts: number of codes of each length, starting at [1]
 * @symbols: 256, in the order of the codes
 * Returns FALSE if this is not a prefix code. */
gboolean spdl_huffman_set (SpdlHuffman *self, const guint8 *counts,
    const guint8 *symbols, gboolean is_dc);

/* Builds `pairs`, unless they exist. */
void spdl_huffman_build_pairs (SpdlHuffman *self);

/* Builds `skips`. */
void spdl_huffman_build_skips (SpdlHuffman *self);

static inline void
spdl_huffman_need_skips (SpdlHuffman *self)
{
  if (G_UNLIKELY (!self->has_skips))
    spdl_huffman_build_skips (self);
}

/* Finds the code with at least @least bits at the beginning of the 64 @bits,
 * without the lookup tables. Its length is 0 if there is none. */
SpdlHuffmanEntry spdl_huffman_find_long_code (
    const SpdlHuffman *self, guint64 bits, guint least);

/* Returns the coefficient for @size extra bits, 0 to 16, at offset @at in the
 * 64 @bits. This is EXTEND in the JPEG standard. */
static inline gint
spdl_huffman_extend (guint64 bits, guint at, guint size)
{
  const guint64 left = bits << at;
  const gint64 sign = ~(gint64) left >> 63;

  /* 0 if there are no extra bits */
  return (gint) (((left ^ sign) >> 1 >> (63 - size)) ^ sign) - (gint) sign;
}

G_END_DECLS
