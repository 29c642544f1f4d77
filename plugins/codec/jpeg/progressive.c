/* gst-spdl: Huffman decoder of progressive JPEGs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A progressive JPEG sends its coefficients in about ten scans. A scan has the
 * DC coefficients, or a band of the AC coefficients of one component, and
 * either their upper bits ("first") or one more bit of each ("refine"):
 *
 *     AC first    codes of runs and values, as in a baseline JPEG; but EOB may
 *                 end the band in up to 32,767 blocks
 *     AC refine   a code places a new coefficient, +1 or -1, after a run of
 *                 coefficients that are still zero. Each nonzero coefficient
 *                 that it passes takes a correction bit from the scan.
 *
 * libjpeg tests each coefficient that it passes. Here each block has a mask of
 * its nonzero coefficients, of which bit 63 is the first one in zigzag order.
 * The end of a run is then a selected bit of the inverted mask, and the
 * correction bits of all passed coefficients are taken at once and deposited
 * there.
 *
 * If a scan has one component, libjpeg asks for each block, whose row is
 * contiguous. The first call decodes the whole row, and MCUs_per_row is set to
 * 1, so that there are no further calls.
 *
 * Whatever libjpeg would warn of ends the decoding, and libjpeg decodes the
 * whole file again. Therefore results and warnings are those of libjpeg. */

#include "plugins/codec/jpeg/progressive.h"

#include <string.h>

#include "plugins/codec/jpeg/libjpeg.h"
#include "plugins/codec/jpeg/scanbits.h"

#define INLINE inline __attribute__ ((always_inline))

#define LOOKAHEAD 11
/* A code with its extra bits, or an EOB with its run. */
#define MAX_BITS 31
#define ZRL 15 /* run of a code for 16 zeros */

/* Blocks from the one that is decoded to the one that is fetched into the
 * cache. */
#define N_AHEAD 16

/* Bit of coefficient @k in a mask. */
#define BIT(k) (G_GUINT64_CONSTANT (1) << 63 >> (k))

static const guint8 natural_order[DCTSIZE2] = { 0, 1, 8, 16, 9, 2, 3, 10, 17,
  24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };

/* A code of `length` bits; 0: longer than the lookahead, or invalid. */
typedef struct {
  guint8 length;
  guint8 run;
  guint8 size;
} Code;

typedef struct {
  Code lookup[1 << LOOKAHEAD];
  SpdlCodes codes;
} Table;

typedef enum {
  SCAN_DC_FIRST,
  SCAN_DC_REFINE,
  SCAN_AC_FIRST,
  SCAN_AC_REFINE,
  SCAN_SKIPPED,
} ScanKind;

typedef struct {
  SpdlBits bits;
  guint eob_run;
  guint32 dc_values[MAX_COMPS_IN_SCAN];
  gsize to_restart; /* MCUs */
  guint next_restart;
  gboolean ok;
} Position;

struct _SpdlProgressive {
  gboolean (*decode) (
      SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks);
  void (*original_start_pass) (j_decompress_ptr cinfo);
  const SpdlProgressiveHooks *hooks;

  /* A mask per block, and the first one of each component. */
  guint64 *masks;
  gsize n_masks;
  gsize first_masks[MAX_COMPONENTS];

  /* The scan. */
  ScanKind kind;
  Table tables[MAX_COMPS_IN_SCAN];
  guint n_columns;
  gsize n_calls, n_done; /* of decode_mcu() */
  guint64 *row_masks;
  Position position;
};

/* Tables */

static void
add_code (gpointer table, guint code, guint length, guint symbol)
{
  Table *self = table;
  Code *to = self->lookup + (code << (LOOKAHEAD - length));

  for (guint i = 0; i < 1u << (LOOKAHEAD - length); i++)
    to[i] = (Code){ length, symbol >> 4, symbol & 15 };
}

static gboolean
build_table (Table *self, const JHUFF_TBL *from)
{
  if (!from)
    return FALSE;
  memset (self->lookup, 0, sizeof self->lookup);
  memcpy (self->codes.counts, from->bits, sizeof self->codes.counts);
  memcpy (self->codes.symbols, from->huffval, sizeof self->codes.symbols);
  return spdl_codes_assign (&self->codes, LOOKAHEAD, add_code, self);
}

static Code
find_long_code (const Table *self, guint64 bits)
{
  guint length = LOOKAHEAD + 1;
  const guint symbol = spdl_codes_find (&self->codes, bits, &length);

  return (Code){ length, symbol >> 4, symbol & 15 };
}

static INLINE Code
look_up_code (const Table *self, SpdlBits bits)
{
  const Code code = self->lookup[spdl_bits_peek (bits, LOOKAHEAD)];

  return G_LIKELY (code.length > 0) ? code : find_long_code (self, bits.window);
}

static INLINE SpdlBits
fill_for_code (SpdlBits bits)
{
  return bits.n < MAX_BITS ? spdl_bits_fill (bits) : bits;
}

/* Masks */

/* Places the lowest bits of @bits at the set bits of @mask. */
static INLINE guint64
deposit (guint64 bits, guint64 mask, gboolean has_bmi2)
{
  guint64 placed = 0;

#ifdef __x86_64__
  if (has_bmi2) {
    __asm__("pdep %2, %1, %0" : "=r"(placed) : "r"(bits), "r"(mask));
    return placed;
  }
#endif
  for (; mask != 0; mask &= mask - 1, bits >>= 1)
    if (bits & 1)
      placed |= mask & -mask;
  return placed;
}

/* Blocks */

static INLINE SpdlBits
decode_first (SpdlBits bits, const Table *table, j_decompress_ptr cinfo,
    JCOEFPTR block, guint64 *mask, Position *position)
{
  const guint end = cinfo->Se;
  guint64 found = *mask;
  guint k = cinfo->Ss;

  while (k <= end) {
    Code code;

    bits = fill_for_code (bits);
    code = look_up_code (table, bits);
    if (G_LIKELY (code.size > 0)) {
      const JCOEF value =
          (guint) spdl_bits_extend (bits.window, code.length, code.size)
          << cinfo->Al;

      k += code.run;
      if (G_UNLIKELY (k > end || value == 0)) {
        position->ok = FALSE;
        break;
      }
      block[natural_order[k]] = value;
      found |= BIT (k);
      k++;
      bits = spdl_bits_drop (bits, code.length + code.size);
      continue;
    }
    bits = spdl_bits_drop (bits, code.length);
    if (code.run == ZRL) {
      k += 16;
      continue;
    }
    position->ok &= code.length > 0;
    position->eob_run = (1u << code.run) - 1;
    if (code.run > 0) {
      position->eob_run += spdl_bits_peek (bits, code.run);
      bits = spdl_bits_drop (bits, code.run);
    }
    break;
  }
  *mask = found;
  return bits;
}

/* Takes a bit for each coefficient of @mask, and adds those of ones to
 * @corrections. */
static INLINE SpdlBits
take_corrections (
    SpdlBits bits, guint64 mask, guint64 *corrections, gboolean has_bmi2)
{
  guint n = __builtin_popcountll (mask);

  while (G_UNLIKELY (bits.n < n)) {
    bits = spdl_bits_fill (bits);
    if (bits.n < n) {
      const guint64 first = BIT (__builtin_clzll (mask));

      *corrections |= bits.window >> 63 ? first : 0;
      bits = spdl_bits_drop (bits, 1);
      mask ^= first;
      n--;
    }
  }
  *corrections |= deposit (bits.window >> 1 >> (63 - n), mask, has_bmi2);
  return spdl_bits_drop (bits, n);
}

/* Returns the mask's bit of the zero after @run others in @rest, the mask of
 * the coefficients that are not passed yet; 0: there are fewer. */
static INLINE guint64
find_zero (guint64 nonzero, guint64 rest, guint run, gboolean has_bmi2)
{
  const guint64 zeros = rest & ~nonzero;
  const guint n = __builtin_popcountll (zeros);

  return n > run ? deposit (BIT (63 - (n - 1 - run)), zeros, has_bmi2) : 0;
}

static INLINE void
correct (JCOEFPTR block, guint64 corrections, gint one)
{
  for (; corrections != 0; corrections &= corrections - 1) {
    JCOEF *value = block + natural_order[63 - __builtin_ctzll (corrections)];

    if ((*value & one) == 0)
      *value += *value >= 0 ? one : -one;
  }
}

static INLINE SpdlBits
decode_refinement (SpdlBits bits, const Table *table, j_decompress_ptr cinfo,
    JCOEFPTR block, guint64 *mask, Position *position, gboolean has_bmi2)
{
  const gint one = 1 << cinfo->Al;
  const guint64 nonzero = *mask;
  guint64 rest = ~G_GUINT64_CONSTANT (0) >> cinfo->Ss & ~G_GUINT64_CONSTANT (0)
                                                            << (63 - cinfo->Se);
  guint64 corrections = 0;

  while (rest != 0 && position->eob_run == 0) {
    guint64 at, passed;
    Code code;

    bits = fill_for_code (bits);
    code = look_up_code (table, bits);
    bits = spdl_bits_drop (bits, code.length);
    if (code.size == 0 && code.run != ZRL) {
      position->ok &= code.length > 0;
      position->eob_run = 1u << code.run;
      if (code.run > 0) {
        position->eob_run += spdl_bits_peek (bits, code.run);
        bits = spdl_bits_drop (bits, code.run);
      }
      break;
    }
    at = find_zero (nonzero, rest, code.run, has_bmi2);
    if (code.size > 0) {
      if (G_UNLIKELY (code.size > 1 || at == 0)) {
        position->ok = FALSE;
        break;
      }
      block[natural_order[__builtin_clzll (at)]] =
          bits.window >> 63 ? one : -one;
      *mask |= at;
      bits = spdl_bits_drop (bits, 1);
    }
    /* From the zero on, without it; all if there is none. */
    passed = at != 0 ? rest & ~(at | (at - 1)) : rest;
    rest = at != 0 ? rest & (at - 1) : 0;
    bits = take_corrections (bits, nonzero & passed, &corrections, has_bmi2);
  }
  if (position->eob_run > 0) {
    bits = take_corrections (bits, nonzero & rest, &corrections, has_bmi2);
    position->eob_run--;
  }
  correct (block, corrections, one);
  return bits;
}

static INLINE SpdlBits
decode_dc (SpdlBits bits, const Table *table, j_decompress_ptr cinfo,
    JCOEFPTR block, guint32 *value, Position *position)
{
  Code code;

  bits = fill_for_code (bits);
  code = look_up_code (table, bits);
  position->ok &= code.length > 0 && code.run == 0;
  *value += spdl_bits_extend (bits.window, code.length, code.size);
  /* libjpeg refuses sums that no file with 8 bits needs. */
  position->ok &= *value + (1 << 20) < 2 << 20;
  block[0] = (JCOEF) (*value << cinfo->Al);
  return spdl_bits_drop (bits, code.length + code.size);
}

static INLINE SpdlBits
refine_dc (SpdlBits bits, j_decompress_ptr cinfo, JCOEFPTR block)
{
  bits = fill_for_code (bits);
  if (bits.window >> 63)
    block[0] |= 1 << cinfo->Al;
  return spdl_bits_drop (bits, 1);
}

/* Rows and MCUs */

static void
restart (Position *self, j_decompress_ptr cinfo, const guint8 *data)
{
  self->bits = spdl_bits_begin (data, self->bits.end);
  self->eob_run = 0;
  memset (self->dc_values, 0, sizeof self->dc_values);
  self->to_restart =
      cinfo->restart_interval > 0 ? cinfo->restart_interval : G_MAXSIZE;
}

static gboolean
read_restart (Position *self, j_decompress_ptr cinfo)
{
  const guint8 *after =
      spdl_bits_find_restart (&self->bits, &self->next_restart);

  if (after)
    restart (self, cinfo, after);
  return after != NULL;
}

static INLINE gboolean
decode_row (SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW row,
    gboolean has_bmi2)
{
  const guint n = self->n_columns;
  Position position = self->position;

  for (guint x = 0; x < n && position.ok;) {
    JCOEFPTR block = row[x];

    if (position.to_restart == 0 && !read_restart (&position, cinfo))
      return FALSE;
    if (self->kind == SCAN_AC_FIRST && position.eob_run > 0) {
      const gsize n_empty =
          MIN (MIN (position.eob_run, n - x), position.to_restart);

      position.eob_run -= n_empty;
      position.to_restart -= n_empty;
      x += n_empty;
      continue;
    }
    position.to_restart--;
    switch (self->kind) {
      case SCAN_AC_FIRST:
        position.bits = decode_first (position.bits, self->tables, cinfo, block,
            self->row_masks + x, &position);
        break;
      case SCAN_AC_REFINE:
        position.bits = decode_refinement (position.bits, self->tables, cinfo,
            block, self->row_masks + x, &position, has_bmi2);
        break;
      case SCAN_DC_FIRST:
        position.bits = decode_dc (position.bits, self->tables, cinfo, block,
            position.dc_values, &position);
        break;
      default:
        position.bits = refine_dc (position.bits, cinfo, block);
        break;
    }
    x++;
  }
  self->row_masks += n;
  self->position = position;
  return position.ok && !spdl_bits_is_exhausted (&position.bits);
}

/* An MCU of several components has only DC coefficients. */
static INLINE gboolean
decode_mcu (SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  Position *position = &self->position;
  SpdlBits bits;

  if (position->to_restart == 0 && !read_restart (position, cinfo))
    return FALSE;
  position->to_restart--;
  bits = position->bits;
  for (gint i = 0; i < cinfo->blocks_in_MCU; i++) {
    const guint component = cinfo->MCU_membership[i];

    __builtin_prefetch (blocks[i][N_AHEAD], 1);
    bits = self->kind == SCAN_DC_FIRST
               ? decode_dc (bits, &self->tables[component], cinfo, blocks[i][0],
                     &position->dc_values[component], position)
               : refine_dc (bits, cinfo, blocks[i][0]);
  }
  position->bits = bits;
  return position->ok && !spdl_bits_is_exhausted (&bits);
}

static INLINE gboolean
decode (SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks,
    gboolean has_bmi2)
{
  return cinfo->comps_in_scan == 1
             ? decode_row (self, cinfo, blocks[0], has_bmi2)
             : decode_mcu (self, cinfo, blocks);
}

static gboolean
decode_plain (SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return decode (self, cinfo, blocks, FALSE);
}

#ifdef __x86_64__
__attribute__ ((target ("bmi,bmi2,popcnt"))) static gboolean
decode_bmi2 (SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return decode (self, cinfo, blocks, TRUE);
}
#endif

/* Scans */

/* A block that becomes one sample needs only its DC coefficient. */
static ScanKind
find_kind (j_decompress_ptr cinfo)
{
  if (cinfo->Ss == 0)
    return cinfo->Ah == 0 ? SCAN_DC_FIRST : SCAN_DC_REFINE;
  if (BLOCK_SIDE (cinfo->cur_comp_info[0]) == 1)
    return SCAN_SKIPPED;
  return cinfo->Ah == 0 ? SCAN_AC_FIRST : SCAN_AC_REFINE;
}

static gboolean
build_tables (SpdlProgressive *self, j_decompress_ptr cinfo)
{
  gboolean ok = TRUE;

  for (gint i = 0; i < cinfo->comps_in_scan && ok; i++) {
    const jpeg_component_info *info = cinfo->cur_comp_info[i];

    if (self->kind == SCAN_DC_FIRST)
      ok = build_table (
          &self->tables[i], cinfo->dc_huff_tbl_ptrs[info->dc_tbl_no]);
    else if (self->kind == SCAN_AC_FIRST || self->kind == SCAN_AC_REFINE)
      ok = build_table (
          &self->tables[i], cinfo->ac_huff_tbl_ptrs[info->ac_tbl_no]);
  }
  return ok;
}

/* Moves to the end of a scan that is not needed. Returns FALSE if no marker
 * follows. */
static gboolean
skip_scan (SpdlBits *bits)
{
  const guint8 *at = bits->next;

  while ((at = memchr (at, 0xff, bits->end - at)) && bits->end - at >= 2) {
    if (at[1] != 0 && at[1] != 0xff &&
        !(at[1] >= JPEG_RST0 && at[1] <= JPEG_RST0 + 7)) {
      bits->next = at;
      return TRUE;
    }
    at++;
  }
  return FALSE;
}

static void
begin_scan (SpdlProgressive *self, j_decompress_ptr cinfo)
{
  Position *position = &self->position;
  const guint8 *data = cinfo->src->next_input_byte;

  position->bits.end = data + cinfo->src->bytes_in_buffer;
  position->next_restart = 0;
  restart (position, cinfo, data);
  self->kind = find_kind (cinfo);
  position->ok = cinfo->unread_marker == 0 && build_tables (self, cinfo) &&
                 (self->kind != SCAN_SKIPPED || skip_scan (&position->bits));
  self->n_columns = cinfo->MCUs_per_row;
  self->n_done = 0;
  self->n_calls = cinfo->MCU_rows_in_scan;
  self->row_masks =
      self->masks + self->first_masks[cinfo->cur_comp_info[0]->component_index];
  if (cinfo->comps_in_scan == 1)
    cinfo->MCUs_per_row = 1;
  else
    self->n_calls *= self->n_columns;
}

/* libjpeg looks for the next marker from there. */
static void
end_scan (const SpdlProgressive *self, j_decompress_ptr cinfo)
{
  const SpdlBits *bits = &self->position.bits;

  cinfo->src->next_input_byte = bits->next;
  cinfo->src->bytes_in_buffer = bits->end - bits->next;
}

boolean
spdl_progressive_decode_mcu (
    SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  const gboolean ok =
      self->position.ok &&
      (self->kind == SCAN_SKIPPED || self->decode (self, cinfo, blocks));

  self->position.ok = ok;
  if (ok && ++self->n_done == self->n_calls)
    end_scan (self, cinfo);
  return ok;
}

void
spdl_progressive_start_pass (SpdlProgressive *self, j_decompress_ptr cinfo)
{
  self->original_start_pass (cinfo);
  begin_scan (self, cinfo);
  spdl_libjpeg_get_entropy (cinfo)->decode_mcu = self->hooks->decode_mcu;
}

/* Files */

static gboolean
ensure_masks (SpdlProgressive *self, j_decompress_ptr cinfo)
{
  gsize n = 0;

  for (gint i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *info = cinfo->comp_info + i;

    self->first_masks[i] = n;
    n += (gsize) info->width_in_blocks * info->height_in_blocks;
  }
  if (n > self->n_masks) {
    g_free (self->masks);
    self->masks = g_try_new (guint64, n);
    self->n_masks = self->masks ? n : 0;
  }
  if (self->masks)
    memset (self->masks, 0, n * sizeof *self->masks);
  return self->masks != NULL;
}

gboolean
spdl_progressive_start (SpdlProgressive *self, j_decompress_ptr cinfo,
    const SpdlProgressiveHooks *hooks)
{
  SpdlLibjpegEntropy *methods;
  gboolean ok;

  if (!ensure_masks (self, cinfo))
    return FALSE;
  /* In this mode the function reads no scan. */
  cinfo->buffered_image = TRUE;
  jpeg_start_decompress (cinfo);
  cinfo->buffered_image = FALSE;
  if (cinfo->global_state != SPDL_LIBJPEG_BUFIMAGE)
    return FALSE;
  cinfo->global_state = SPDL_LIBJPEG_PRELOAD;
  methods = spdl_libjpeg_get_entropy (cinfo);
  self->original_start_pass = methods->start_pass;
  self->hooks = hooks;
  methods->start_pass = hooks->start_pass;
  methods->decode_mcu = hooks->decode_mcu;
  begin_scan (self, cinfo);
  ok = jpeg_start_decompress (cinfo);
  cinfo->MCUs_per_row = self->n_columns;
  return ok;
}

SpdlProgressive *
spdl_progressive_new (void)
{
  SpdlProgressive *self = g_new0 (SpdlProgressive, 1);

  self->decode = decode_plain;
#ifdef __x86_64__
  if (__builtin_cpu_supports ("bmi") && __builtin_cpu_supports ("bmi2") &&
      __builtin_cpu_supports ("popcnt"))
    self->decode = decode_bmi2;
#endif
  return self;
}

void
spdl_progressive_free (SpdlProgressive *self)
{
  if (self)
    g_free (self->masks);
  g_free (self);
}

void
spdl_progressive_set_plain (SpdlProgressive *self)
{
  self->decode = decode_plain;
}
