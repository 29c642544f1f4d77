/* gst-spdl: Huffman codes of a JPEG, as tables to look up
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_HUFFMAN_H__
#define __SPDL_HUFFMAN_H__

#include <glib.h>

G_BEGIN_DECLS

/* The bits that are looked up at once. Of photographs' codes, nine of ten are
 * no longer together with the bits of the value that follows. */
#define SPDL_HUFFMAN_BITS 10
#define SPDL_HUFFMAN_N_ENTRIES (1 << SPDL_HUFFMAN_BITS)

/* The same, where values do not count. */
#define SPDL_HUFFMAN_SKIP_BITS 12
#define SPDL_HUFFMAN_N_SKIPS (1 << SPDL_HUFFMAN_SKIP_BITS)

/* The step of a code that ends a block, and of what is no code: both lead
 * behind any block, and apart. */
#define SPDL_HUFFMAN_END 128
#define SPDL_HUFFMAN_BAD 64

/* What some bits begin with.
 *
 * `length` > 0: the bits of a code and of its value, `value`, which lies `step`
 * coefficients further. Else `value` is the code's bits; or it is 0, and the
 * code is longer than what is looked up. */
typedef struct {
  guint8 length;
  guint8 step;
  gint16 value;
} SpdlHuffmanEntry;

/* Several codes at once, where nobody asks for the values: their bits, and by
 * how many coefficients they go on; with SPDL_HUFFMAN_END on top where the last
 * one ends the block. No bits: one code is too long. */
typedef struct {
  guint8 length;
  guint8 step;
} SpdlHuffmanSkip;

typedef struct {
  SpdlHuffmanEntry entries[SPDL_HUFFMAN_N_ENTRIES];
  SpdlHuffmanSkip skips[SPDL_HUFFMAN_N_SKIPS];
  gboolean has_skips;
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

/* Makes `skips`. */
void spdl_huffman_chain (SpdlHuffman *self);

static inline void
spdl_huffman_make_skips (SpdlHuffman *self)
{
  if (G_UNLIKELY (!self->has_skips))
    spdl_huffman_chain (self);
}

/* The code of @least bits or more with which 64 bits begin, and its value,
 * without a look at the tables above. Its length is 0 if there is none. */
SpdlHuffmanEntry
spdl_huffman_find (const SpdlHuffman *self, guint64 bits, guint least);

/* The value that the first @size of 32 @bits mean, 1 to 16. */
static inline gint
spdl_huffman_extend (guint32 bits, guint size)
{
  const gint value = bits >> (32 - size);
  const gint is_negative = ~bits >> 31;

  return value - (is_negative << size) + is_negative;
}

G_END_DECLS

#endif /* __SPDL_HUFFMAN_H__ */
