/* gst-spdl: Huffman decoding in libjpeg's place
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/entropy.h"

#include <string.h>

#include "plugins/codec/jpeg/bits.h"
#include "plugins/codec/jpeg/huffman.h"
#include "plugins/codec/jpeg/libjpeg.h"

/* What a look may go beyond a block: the longest step, and an end. */
#define N_BEYOND (16 + SPDL_HUFFMAN_END)

/* Where the coefficient lies that a step to @i, 1 to 64, leads to. What is
 * stored for a step beyond the block is nobody's: it goes where the DC value
 * will be written. */
static const guint8 places[DCTSIZE2 + N_BEYOND] = { 0, 0, 1, 8, 16, 9, 2, 3, 10,
  17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,
  7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };

/* The bytes of a scan from which on it pays to make the tables for pairs, where
 * a file has codes of its own. */
#define PAIRS_PAY 8192

/* Into each of the functions that are made for a kind of CPU. */
#define INLINE inline __attribute__ ((always_inline))

/* Three looks that find something. */
G_STATIC_ASSERT (3 * SPDL_HUFFMAN_LONGEST_KNOWN <= SPDL_BITS_FILLED);

/* A block of an MCU. */
typedef struct {
  const SpdlHuffman *dc;
  SpdlHuffman *ac;
  guint component;
  gboolean needs_ac;
} Block;

struct _SpdlEntropy {
  gboolean (*decode) (SpdlEntropy *self, JBLOCKROW *blocks);
  gsize pairs_pay;
  SpdlHuffman dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];

  boolean (*original) (j_decompress_ptr cinfo, JBLOCKROW *blocks);
  const guint8 *data; /* of the scan */
  gsize size;

  Block blocks[D_MAX_BLOCKS_IN_MCU];
  guint n_blocks;
  guint n_columns;  /* of MCUs */
  guint begin, end; /* the columns that are asked for */

  SpdlBits bits;
  guint32 dc_values[MAX_COMPS_IN_SCAN];
  guint column;
  gsize n_done;      /* MCUs of the scan */
  guint restarts_in; /* MCUs; where there are restarts */
  guint next_restart;
};

/* Beginning */

static SpdlHuffman *
use_table (SpdlHuffman *tables, JHUFF_TBL *const *from, gint i, gboolean is_dc)
{
  if (i < 0 || i >= NUM_HUFF_TBLS || !from[i] ||
      !spdl_huffman_set (&tables[i], from[i]->bits, from[i]->huffval, is_dc))
    return NULL;
  return &tables[i];
}

static gboolean
set_block (SpdlEntropy *self, j_decompress_ptr cinfo, guint i)
{
  const guint component = cinfo->MCU_membership[i];
  const jpeg_component_info *info = cinfo->cur_comp_info[component];
  Block *block = &self->blocks[i];

  block->component = component;
#if JPEG_LIB_VERSION >= 70
  block->needs_ac = info->DCT_h_scaled_size > 1;
#else
  block->needs_ac = info->DCT_scaled_size > 1;
#endif
  block->dc =
      use_table (self->dc, cinfo->dc_huff_tbl_ptrs, info->dc_tbl_no, TRUE);
  block->ac =
      use_table (self->ac, cinfo->ac_huff_tbl_ptrs, info->ac_tbl_no, FALSE);
  if (!block->dc || !block->ac)
    return FALSE;
  if (block->needs_ac && cinfo->src->bytes_in_buffer >= self->pairs_pay)
    spdl_huffman_make_pairs (block->ac);
  return TRUE;
}

static void
restart_interval (SpdlEntropy *self, j_decompress_ptr cinfo, const guint8 *data)
{
  self->bits = spdl_bits_begin (data, self->data + self->size);
  memset (self->dc_values, 0, sizeof self->dc_values);
  self->restarts_in = cinfo->restart_interval;
}

/* Return whether a file is baseline, or sequential with 8 bits. libjpeg-turbo 3
 * decodes lossless files and files of 12 bits, too; a lossless scan has its
 * predictor, 1 to 7, in Ss. */
static gboolean
can_decode (j_decompress_ptr cinfo)
{
  return !cinfo->progressive_mode && !cinfo->arith_code &&
         cinfo->data_precision == 8 && cinfo->Ss == 0 &&
         !jpeg_has_multiple_scans (cinfo) && cinfo->unread_marker == 0;
}

gboolean
spdl_entropy_begin (SpdlEntropy *self, j_decompress_ptr cinfo,
    boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks))
{
  SpdlLibjpegEntropy *methods = spdl_libjpeg_get_entropy (cinfo);

  if (!can_decode (cinfo))
    return FALSE;
  self->n_blocks = cinfo->blocks_in_MCU;
  for (guint i = 0; i < self->n_blocks; i++)
    if (!set_block (self, cinfo, i))
      return FALSE;
  self->original = methods->decode_mcu;
  self->data = cinfo->src->next_input_byte;
  self->size = cinfo->src->bytes_in_buffer;
  self->n_columns = cinfo->MCUs_per_row;
  self->begin = self->column = self->next_restart = 0;
  self->end = G_MAXUINT;
  self->n_done = 0;
  restart_interval (self, cinfo, self->data);
  methods->decode_mcu = decode_mcu;
  return TRUE;
}

void
spdl_entropy_set_columns (SpdlEntropy *self, guint begin, guint end)
{
  self->begin = begin;
  self->end = end;
}

/* Codes */

static inline SpdlHuffmanEntry
look_up (const SpdlHuffman *table, SpdlBits bits)
{
  return table->entries[spdl_bits_peek (bits, SPDL_HUFFMAN_BITS)];
}

/* What look_up() did not find. At least SPDL_HUFFMAN_LONGEST bits are there. */
static inline SpdlHuffmanEntry
find_code (const SpdlHuffman *table, SpdlBits bits, SpdlHuffmanEntry entry)
{
  return spdl_huffman_find (
      table, bits.window, entry.code > 0 ? entry.code : SPDL_HUFFMAN_BITS + 1);
}

/* Where there are so many, as well. */
static inline SpdlBits
read_code (SpdlBits bits, const SpdlHuffman *table, SpdlHuffmanEntry *entry,
    gint *value)
{
  *entry = look_up (table, bits);
  if (G_UNLIKELY (entry->length == 0))
    *entry = find_code (table, bits, *entry);
  *value = spdl_huffman_get_value (bits.window, entry->code, entry->size);
  return spdl_bits_drop (bits, entry->length);
}

/* Whether a block that was gone through to there is one. */
static inline gboolean
is_block (guint at)
{
  return at == DCTSIZE2 || at > SPDL_HUFFMAN_END;
}

/* Whether a look that went beyond a block came to its last coefficient, or to a
 * code of its own that ends it: not one of the block behind. */
static inline gboolean
is_end (guint last)
{
  return (last == DCTSIZE2) | (last - SPDL_HUFFMAN_END < DCTSIZE2);
}

/* One code, which may be long, or the last one of a block, or beyond that. */
static INLINE SpdlBits
read_value (SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, guint *at)
{
  SpdlHuffmanEntry entry;
  gint value;

  bits = read_code (spdl_bits_fill (bits), table, &entry, &value);
  *at += entry.step;
  if (*at <= DCTSIZE2)
    block[places[*at]] = value;
  return bits;
}

/* A block, a code a look. */
static __attribute__ ((noinline)) SpdlBits
read_values (
    SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, gboolean *ok)
{
  guint at = 1;

  while (at < DCTSIZE2)
    bits = read_value (bits, table, block, &at);
  *ok &= is_block (at);
  return bits;
}

/* Two codes, or one; returns whether the block goes on behind them. Values are
 * stored before it is known whether they are the block's: the branch is late,
 * and often not foreseen. */
static INLINE gboolean
take_look (SpdlBits *bits, const SpdlHuffman *table, JCOEFPTR block, guint *at)
{
  const SpdlHuffmanPair *pair =
      &table->pairs[spdl_bits_peek (*bits, SPDL_HUFFMAN_PAIR_BITS)];
  const guint next = *at + pair->step, last = next + pair->last_step;

  block[places[next]] = pair->value;
  block[places[last]] =
      spdl_huffman_get_value (bits->window, pair->at, pair->size);
  if (G_UNLIKELY (last >= DCTSIZE2) && !is_end (last)) {
    *bits = read_value (*bits, table, block, at);
    return FALSE;
  }
  *bits = spdl_bits_drop (*bits, pair->length);
  *at = last;
  return last < DCTSIZE2;
}

/* Two codes a look, as long as they are well within the block. What decides of
 * the time is the way from one look to the next, over the length of what it
 * found: values are made beside it. The bits are filled up where it is known
 * that they may not suffice, without a branch on how many are left. */
static INLINE SpdlBits
read_block (
    SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, gboolean *ok)
{
  guint at = 1;

  if (G_UNLIKELY (!table->has_pairs))
    return read_values (bits, table, block, ok);
  /* Nearly always so much is left of what was there for the DC value. */
  if (G_UNLIKELY (bits.n < 2 * SPDL_HUFFMAN_LONGEST_KNOWN))
    bits = spdl_bits_fill (bits);
  (void) (take_look (&bits, table, block, &at) &&
          take_look (&bits, table, block, &at));
  while (at < DCTSIZE2) {
    bits = spdl_bits_fill (bits);
    (void) (take_look (&bits, table, block, &at) &&
            take_look (&bits, table, block, &at) &&
            take_look (&bits, table, block, &at));
  }
  *ok &= is_block (at);
  return bits;
}

/* The same, for nobody. */
static INLINE SpdlBits
skip_block (SpdlBits bits, SpdlHuffman *table, gboolean *ok)
{
  guint at = 1;

  spdl_huffman_make_skips (table);
  while (at < DCTSIZE2) {
    SpdlHuffmanSkip skip;
    SpdlHuffmanEntry entry;
    guint next;
    gint value;

    if (bits.n < SPDL_HUFFMAN_LONGEST)
      bits = spdl_bits_fill (bits);
    skip = table->skips[spdl_bits_peek (bits, SPDL_HUFFMAN_SKIP_BITS)];
    next = at + skip.step;
    if (skip.length > 0 && next <= DCTSIZE2) {
      at = next;
      bits = spdl_bits_drop (bits, skip.length);
      continue;
    }
    if (next > SPDL_HUFFMAN_END && next < SPDL_HUFFMAN_END + DCTSIZE2)
      return spdl_bits_drop (bits, skip.length);
    /* A long code, or more codes than the block has room for. */
    bits = read_code (bits, table, &entry, &value);
    at += entry.step;
    if (entry.length == 0)
      break;
  }
  *ok &= is_block (at);
  return bits;
}

/* MCUs */

/* Looks for the marker where one has to be, right behind the last bits. */
static gboolean
read_restart (SpdlEntropy *self, j_decompress_ptr cinfo)
{
  const SpdlBits *bits = &self->bits;
  const guint8 *at = bits->next;

  if (bits->n - bits->n_beyond >= 8 || bits->end - at < 2 || at[0] != 0xff ||
      at[1] != JPEG_RST0 + self->next_restart)
    return FALSE;
  self->next_restart = (self->next_restart + 1) % 8;
  restart_interval (self, cinfo, at + 2);
  return TRUE;
}

static gboolean
is_wanted (const SpdlEntropy *self, j_decompress_ptr cinfo)
{
  return self->column >= self->begin && self->column < self->end &&
         cinfo->comp_info[0].component_needed;
}

static INLINE gboolean
decode_blocks (SpdlEntropy *self, JBLOCKROW *blocks)
{
  SpdlBits bits = self->bits;
  gboolean ok = TRUE;

  for (guint i = 0; i < self->n_blocks; i++) {
    const Block *block = &self->blocks[i];
    SpdlHuffmanEntry entry;
    gint difference;

    bits = read_code (spdl_bits_fill (bits), block->dc, &entry, &difference);
    ok &= entry.length > 0;
    self->dc_values[block->component] += difference;
    if (blocks && block->needs_ac)
      bits = read_block (bits, block->ac, blocks[i][0], &ok);
    else
      bits = skip_block (bits, block->ac, &ok);
    if (blocks)
      blocks[i][0][0] = (JCOEF) self->dc_values[block->component];
  }
  self->bits = bits;
  return ok && !spdl_bits_is_overdrawn (&bits);
}

static gboolean
decode_plain (SpdlEntropy *self, JBLOCKROW *blocks)
{
  return decode_blocks (self, blocks);
}

#ifdef __x86_64__
/* Shifts by a number that is not known before take one step there, not three.
 */
__attribute__ ((target ("bmi,bmi2"))) static gboolean
decode_bmi2 (SpdlEntropy *self, JBLOCKROW *blocks)
{
  return decode_blocks (self, blocks);
}
#endif

/* Leaves the scan to libjpeg, from its first byte on: it comes to the same
 * place, and says what is wrong there. */
static boolean
fall_back (SpdlEntropy *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  spdl_libjpeg_get_entropy (cinfo)->decode_mcu = self->original;
  cinfo->src->next_input_byte = self->data;
  cinfo->src->bytes_in_buffer = self->size;
  for (gsize i = 0; i < self->n_done; i++)
    if (!self->original (cinfo, NULL))
      return FALSE;
  for (guint i = 0; blocks && i < self->n_blocks; i++)
    memset (blocks[i], 0, sizeof (JBLOCK));
  return self->original (cinfo, blocks);
}

boolean
spdl_entropy_decode (
    SpdlEntropy *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  if (cinfo->restart_interval > 0) {
    if (self->restarts_in == 0 && !read_restart (self, cinfo))
      return fall_back (self, cinfo, blocks);
    self->restarts_in--;
  }
  if (!self->decode (self, is_wanted (self, cinfo) ? blocks : NULL))
    return fall_back (self, cinfo, blocks);
  self->n_done++;
  if (++self->column == self->n_columns)
    self->column = 0;
  return TRUE;
}

SpdlEntropy *
spdl_entropy_new (void)
{
  SpdlEntropy *self = g_new0 (SpdlEntropy, 1);

  self->pairs_pay = PAIRS_PAY;
  self->decode = decode_plain;
#ifdef __x86_64__
  if (__builtin_cpu_supports ("bmi") && __builtin_cpu_supports ("bmi2"))
    self->decode = decode_bmi2;
#endif
  return self;
}

void
spdl_entropy_set_ways (SpdlEntropy *self, gboolean plain, gboolean pairs)
{
  if (plain)
    self->decode = decode_plain;
  if (pairs)
    self->pairs_pay = 0;
}

void
spdl_entropy_free (SpdlEntropy *self)
{
  g_free (self);
}
