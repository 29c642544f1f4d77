/* gst-spdl: Huffman decoder that replaces libjpeg's
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A scan of a baseline JPEG is a sequence of MCUs. An MCU consists of a few
 * blocks of 64 coefficients: one DC and 63 AC coefficients in zigzag order.
 * Each coefficient is coded as a Huffman code, which gives a run and a size,
 * followed by `size` extra bits, which give the value:
 *
 *     DC           size         difference to the previous DC of the component
 *     AC           run, size    `run` zeros, then the coefficient
 *     AC, ZRL      15, 0        16 zeros
 *     AC, EOB      0, 0         the rest of the block is zeros
 *
 * libjpeg looks up one code at a time; this decoder looks up two. A scan is
 * bound by the latency between lookups, because each one must know how many
 * bits the previous one consumed. Coefficients are extracted and stored in
 * parallel to this dependency chain.
 *
 * The tables are indexed by the next bits of the scan, the lookahead:
 *
 *     1 0 1 1 | 0 1 0 | 1 1 0 | 1 0 0 | 0 1 ...    the window
 *     code 1  |extra 1|code 2 |extra 2|
 *     |<-- 11 bits, the index -->|
 *
 *     pairs[index]     length       bits of both codes and their extra bits
 *                      step         run + 1 of code 1
 *                      value        coefficient 1; its extra bits are in the
 *                                   index
 *                      second_step  run + 1 of code 2
 *                      second_at    offset of its extra bits in the window
 *                      second_size  number of them; they may exceed the index
 *     entries[index]   the same for one code: length, step, code, size
 *     skips[index]     the codes that fit in 12 bits, without values
 *
 * The zigzag index k starts at 1 and advances by steps, so a block is complete
 * at k = 64. EOB has a step of 128, and an invalid code one of 64. Both end the
 * loop, and the value of k tells the cases apart:
 *
 *     k <  64          more coefficients follow
 *     k == 64          complete: the last coefficient was decoded
 *     64 < k <= 128    corrupt: an invalid code, or too long a run
 *     k > 128          complete: EOB
 *
 * The whole file is in memory, so decoding never suspends, and one load refills
 * the 64-bit window. If a scan is corrupt, libjpeg decodes it again from its
 * first byte (fall_back()). Therefore this file has no error recovery, and
 * results and warnings are those of libjpeg. */

#include "plugins/codec/jpeg/entropy.h"

#include <string.h>

#include "plugins/codec/jpeg/libjpeg.h"
#include "plugins/codec/jpeg/scanbits.h"

/* Huffman codes */

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
  SpdlCodes codes;
  gboolean is_dc;
  gboolean is_valid;
} SpdlHuffman;

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
add_code (gpointer table, guint code, guint length, guint symbol)
{
  SpdlHuffman *self = table;
  const guint n_free = SPDL_HUFFMAN_LOOKAHEAD - length;
  SpdlHuffmanEntry *to = self->entries + (code << n_free);
  SpdlHuffmanEntry entry = make_entry (self, length, symbol);

  if (entry.length > SPDL_HUFFMAN_MAX_LOOKUP_BITS)
    entry.length = 0;
  for (guint i = 0; i < 1u << n_free; i++)
    to[i] = entry;
}

/* Builds `entries`, unless the codes are unchanged.
 * @counts: number of codes of each length, starting at [1]
 * @symbols: 256, in the order of the codes
 * Returns FALSE if this is not a prefix code. */
static gboolean
spdl_huffman_set (SpdlHuffman *self, const guint8 *counts,
    const guint8 *symbols, gboolean is_dc)
{
  SpdlCodes *codes = &self->codes;

  if (self->is_dc == is_dc && self->is_valid &&
      memcmp (codes->counts + 1, counts + 1, SPDL_CODES_MAX_LENGTH) == 0 &&
      memcmp (codes->symbols, symbols, sizeof codes->symbols) == 0)
    return TRUE;
  memcpy (codes->counts, counts, sizeof codes->counts);
  memcpy (codes->symbols, symbols, sizeof codes->symbols);
  self->is_dc = is_dc;
  self->has_pairs = self->has_skips = FALSE;
  memset (self->entries, 0, sizeof self->entries);
  self->is_valid =
      spdl_codes_assign (codes, SPDL_HUFFMAN_LOOKAHEAD, add_code, self);
  return self->is_valid;
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
        spdl_bits_extend ((guint64) i << (64 - SPDL_HUFFMAN_PAIR_LOOKAHEAD),
            first.code, first.size) };
  }
  return (SpdlHuffmanPair){ first.length, first.step, 0, first.code, first.size,
    0 };
}

/* Builds `pairs`, unless they exist. */
static void
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

/* Builds `skips`. */
static void
spdl_huffman_build_skips (SpdlHuffman *self)
{
  for (guint i = 0; i < SPDL_HUFFMAN_N_SKIPS; i++)
    self->skips[i] = make_skip (self, i);
  self->has_skips = TRUE;
}

static inline void
spdl_huffman_need_skips (SpdlHuffman *self)
{
  if (G_UNLIKELY (!self->has_skips))
    spdl_huffman_build_skips (self);
}

/* Finds the code with at least @least bits at the beginning of the 64 @bits,
 * without the lookup tables. Its length is 0 if there is none. */
static SpdlHuffmanEntry
spdl_huffman_find_long_code (const SpdlHuffman *self, guint64 bits, guint least)
{
  const guint symbol = spdl_codes_find (&self->codes, bits, &least);

  return least > 0 ? make_entry (self, least, symbol)
                   : (SpdlHuffmanEntry){ 0, SPDL_HUFFMAN_INVALID, 0, 0 };
}

/* Blocks */

/* How far a lookup may advance past the end of a block: the longest step, and
 * EOB. */
#define N_PAST_END (16 + SPDL_HUFFMAN_EOB)

/* Maps zigzag index @k, 1 to 64, to the position in the block of the
 * coefficient before it. Values past the end of a block are discarded: they are
 * stored at the position of the DC coefficient, which is written last. */
static const guint8 natural_order[DCTSIZE2 + N_PAST_END] = { 0, 0, 1, 8, 16, 9,
  2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27,
  20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30,
  37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };

/* For a file with custom Huffman codes, tables must be built. If its scan is
 * shorter than this, building `pairs` takes longer than it saves. */
#define MIN_BYTES_FOR_PAIRS 8192

/* Inlined into each variant that is compiled for a set of CPU instructions. */
#define INLINE inline __attribute__ ((always_inline))

/* Three lookups between two refills. */
G_STATIC_ASSERT (3 * SPDL_HUFFMAN_MAX_LOOKUP_BITS <= SPDL_BITS_FILLED);

/* A block of an MCU. */
typedef struct {
  const SpdlHuffman *dc;
  SpdlHuffman *ac;
  guint component;
  gboolean needs_ac;
} Block;

struct _SpdlEntropy {
  gboolean (*decode) (SpdlEntropy *self, JBLOCKROW *blocks);
  gsize min_bytes_for_pairs;
  SpdlHuffman dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];

  boolean (*original) (j_decompress_ptr cinfo, JBLOCKROW *blocks);
  const guint8 *data; /* of the scan */
  gsize size;

  Block blocks[D_MAX_BLOCKS_IN_MCU];
  guint n_blocks;
  guint n_columns;  /* MCUs per row */
  guint begin, end; /* range of columns to decode */

  SpdlBits bits;
  guint32 dc_values[MAX_COMPS_IN_SCAN];
  guint column;
  gsize n_done;          /* MCUs decoded in the scan */
  guint mcus_to_restart; /* MCUs up to the next restart marker */
  guint next_restart;
};

/* Start of a scan */

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
  block->needs_ac = BLOCK_SIDE (info) > 1;
  block->dc =
      use_table (self->dc, cinfo->dc_huff_tbl_ptrs, info->dc_tbl_no, TRUE);
  block->ac =
      use_table (self->ac, cinfo->ac_huff_tbl_ptrs, info->ac_tbl_no, FALSE);
  if (!block->dc || !block->ac)
    return FALSE;
  if (block->needs_ac &&
      cinfo->src->bytes_in_buffer >= self->min_bytes_for_pairs)
    spdl_huffman_build_pairs (block->ac);
  return TRUE;
}

static void
restart_interval (SpdlEntropy *self, j_decompress_ptr cinfo, const guint8 *data)
{
  self->bits = spdl_bits_begin (data, self->data + self->size);
  memset (self->dc_values, 0, sizeof self->dc_values);
  self->mcus_to_restart = cinfo->restart_interval;
}

/* Returns whether the file is baseline or extended sequential with 8 bits per
 * sample. libjpeg-turbo 3 also decodes 12-bit files and lossless ones; the
 * latter store their predictor, 1 to 7, in Ss. */
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

/* Codes and blocks. Each function takes the bit reader by value and returns the
 * advanced one, so that it stays in registers. */

static inline SpdlHuffmanEntry
look_up_code (const SpdlHuffman *table, SpdlBits bits)
{
  return table->entries[spdl_bits_peek (bits, SPDL_HUFFMAN_LOOKAHEAD)];
}

/* Finds a code that look_up_code() did not find. The window must hold at least
 * SPDL_HUFFMAN_MAX_BITS. */
static inline SpdlHuffmanEntry
find_long_code (const SpdlHuffman *table, SpdlBits bits, SpdlHuffmanEntry entry)
{
  return spdl_huffman_find_long_code (table, bits.window,
      entry.code > 0 ? entry.code : SPDL_HUFFMAN_LOOKAHEAD + 1);
}

/* Decodes a code and its extra bits. The window must hold at least
 * SPDL_HUFFMAN_MAX_BITS. */
static inline SpdlBits
decode_code (SpdlBits bits, const SpdlHuffman *table, SpdlHuffmanEntry *entry,
    gint *value)
{
  *entry = look_up_code (table, bits);
  if (G_UNLIKELY (entry->length == 0))
    *entry = find_long_code (table, bits, *entry);
  *value = spdl_bits_extend (bits.window, entry->code, entry->size);
  return spdl_bits_drop (bits, entry->length);
}

static inline gboolean
is_block_complete (guint k)
{
  return k == DCTSIZE2 || k > SPDL_HUFFMAN_EOB;
}

/* Returns whether the second code of a pair, which led to @k past the block,
 * belongs to this block as its last coefficient or EOB, and not to the next
 * block. */
static inline gboolean
is_block_end (guint k)
{
  return (k == DCTSIZE2) | (k - SPDL_HUFFMAN_EOB < DCTSIZE2);
}

/* Decodes one code: a long one, or the last one of a block. */
static INLINE SpdlBits
decode_coefficient (
    SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, guint *k)
{
  SpdlHuffmanEntry entry;
  gint value;

  bits = decode_code (spdl_bits_fill (bits), table, &entry, &value);
  *k += entry.step;
  if (*k <= DCTSIZE2)
    block[natural_order[*k]] = value;
  return bits;
}

/* Decodes a block with one code per lookup, without the table of pairs. */
static __attribute__ ((noinline)) SpdlBits
decode_block_singly (
    SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, gboolean *ok)
{
  guint k = 1;

  while (k < DCTSIZE2)
    bits = decode_coefficient (bits, table, block, &k);
  *ok &= is_block_complete (k);
  return bits;
}

/* Decodes one or two codes with one lookup. Returns TRUE if the block is not
 * complete. Both coefficients are stored before the function knows whether they
 * belong to the block, because that branch is resolved late and often
 * mispredicted. */
static INLINE gboolean
decode_pair (SpdlBits *bits, const SpdlHuffman *table, JCOEFPTR block, guint *k)
{
  const SpdlHuffmanPair *pair =
      &table->pairs[spdl_bits_peek (*bits, SPDL_HUFFMAN_PAIR_LOOKAHEAD)];
  const guint first = *k + pair->step, second = first + pair->second_step;

  block[natural_order[first]] = pair->value;
  block[natural_order[second]] =
      spdl_bits_extend (bits->window, pair->second_at, pair->second_size);
  if (G_UNLIKELY (second >= DCTSIZE2) && !is_block_end (second)) {
    *bits = decode_coefficient (*bits, table, block, k);
    return FALSE;
  }
  *bits = spdl_bits_drop (*bits, pair->length);
  *k = second;
  return second < DCTSIZE2;
}

/* Decodes the AC coefficients of a block. The window is refilled at fixed
 * points, without a branch on the number of valid bits. */
static INLINE SpdlBits
decode_block (
    SpdlBits bits, const SpdlHuffman *table, JCOEFPTR block, gboolean *ok)
{
  guint k = 1;

  if (G_UNLIKELY (!table->has_pairs))
    return decode_block_singly (bits, table, block, ok);
  /* The window was filled for the DC code. Usually enough bits are left for two
   * lookups. */
  if (G_UNLIKELY (bits.n < 2 * SPDL_HUFFMAN_MAX_LOOKUP_BITS))
    bits = spdl_bits_fill (bits);
  (void) (decode_pair (&bits, table, block, &k) &&
          decode_pair (&bits, table, block, &k));
  while (k < DCTSIZE2) {
    bits = spdl_bits_fill (bits);
    (void) (decode_pair (&bits, table, block, &k) &&
            decode_pair (&bits, table, block, &k) &&
            decode_pair (&bits, table, block, &k));
  }
  *ok &= is_block_complete (k);
  return bits;
}

/* Skips the AC codes of a block outside the range of columns. */
static INLINE SpdlBits
skip_block (SpdlBits bits, SpdlHuffman *table, gboolean *ok)
{
  guint k = 1;

  spdl_huffman_need_skips (table);
  while (k < DCTSIZE2) {
    SpdlHuffmanSkip skip;
    SpdlHuffmanEntry entry;
    guint next;
    gint value;

    if (bits.n < SPDL_HUFFMAN_MAX_BITS)
      bits = spdl_bits_fill (bits);
    skip = table->skips[spdl_bits_peek (bits, SPDL_HUFFMAN_SKIP_LOOKAHEAD)];
    next = k + skip.step;
    if (skip.length > 0 && next <= DCTSIZE2) {
      k = next;
      bits = spdl_bits_drop (bits, skip.length);
      continue;
    }
    if (next > SPDL_HUFFMAN_EOB && next < SPDL_HUFFMAN_EOB + DCTSIZE2)
      return spdl_bits_drop (bits, skip.length);
    /* A long code, or codes that exceed the block. */
    bits = decode_code (bits, table, &entry, &value);
    k += entry.step;
    if (entry.length == 0)
      break;
  }
  *ok &= is_block_complete (k);
  return bits;
}

/* MCUs */

static gboolean
read_restart (SpdlEntropy *self, j_decompress_ptr cinfo)
{
  const guint8 *after =
      spdl_bits_find_restart (&self->bits, &self->next_restart);

  if (after)
    restart_interval (self, cinfo, after);
  return after != NULL;
}

static gboolean
is_wanted (const SpdlEntropy *self, j_decompress_ptr cinfo)
{
  return self->column >= self->begin && self->column < self->end &&
         cinfo->comp_info[0].component_needed;
}

static INLINE gboolean
decode_mcu_blocks (SpdlEntropy *self, JBLOCKROW *blocks)
{
  SpdlBits bits = self->bits;
  gboolean ok = TRUE;

  for (guint i = 0; i < self->n_blocks; i++) {
    const Block *block = &self->blocks[i];
    SpdlHuffmanEntry entry;
    gint difference;

    bits = decode_code (spdl_bits_fill (bits), block->dc, &entry, &difference);
    ok &= entry.length > 0;
    self->dc_values[block->component] += difference;
    if (blocks && block->needs_ac)
      bits = decode_block (bits, block->ac, blocks[i][0], &ok);
    else
      bits = skip_block (bits, block->ac, &ok);
    if (blocks)
      blocks[i][0][0] = (JCOEF) self->dc_values[block->component];
  }
  self->bits = bits;
  return ok && !spdl_bits_is_exhausted (&bits);
}

static gboolean
decode_plain (SpdlEntropy *self, JBLOCKROW *blocks)
{
  return decode_mcu_blocks (self, blocks);
}

#ifdef __x86_64__
/* BMI2 shifts by a variable count in one operation instead of three. */
__attribute__ ((target ("bmi,bmi2"))) static gboolean
decode_bmi2 (SpdlEntropy *self, JBLOCKROW *blocks)
{
  return decode_mcu_blocks (self, blocks);
}
#endif

/* Lets libjpeg decode the scan from its first byte. It reaches the same MCU and
 * reports the error there. */
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
    if (self->mcus_to_restart == 0 && !read_restart (self, cinfo))
      return fall_back (self, cinfo, blocks);
    self->mcus_to_restart--;
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

  self->min_bytes_for_pairs = MIN_BYTES_FOR_PAIRS;
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
    self->min_bytes_for_pairs = 0;
}

void
spdl_entropy_free (SpdlEntropy *self)
{
  g_free (self);
}
