/* gst-spdl: a JPEG decompressor that is used again and again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/jpeg/jpeg-private.h"

#include <jerror.h>

#include "plugins/codec/jpeg/entropycheck.h"

/* A scan of few bytes costs a walk over all blocks: a megabyte of them would
 * take minutes. Encoders write about ten. */
#define MAX_SCANS 500

static SpdlJpeg *
jpeg_of (j_common_ptr cinfo)
{
  return cinfo->client_data;
}

static void
on_error (j_common_ptr cinfo)
{
  SpdlJpeg *self = jpeg_of (cinfo);

  cinfo->err->format_message (cinfo, self->message);
  longjmp (self->on_error, 1);
}

/* Whether a warning means that pixels are wrong or missing. The end of the data
 * is not enough: in a single scan the last bits may be there all the same, and
 * where they are not a warning of its own says so. */
static gboolean
costs_pixels (SpdlJpeg *self, int code)
{
  switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
      return TRUE;
    case JWRN_JPEG_EOF:
      /* Before the first scan libjpeg does not know, and fails by itself. */
      return self->cinfo.input_scan_number > 0 &&
             jpeg_has_multiple_scans (&self->cinfo);
    default:
      return FALSE;
  }
}

/* Where the data of the first scan ends, so do the rows; a later scan only
 * makes them better. */
static void
note_end (SpdlJpeg *self)
{
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint mcu_rows = cinfo->max_v_samp_factor * DCTSIZE / self->reduction;

  if (cinfo->input_scan_number <= 1)
    self->missing_from =
        MIN (self->missing_from, cinfo->input_iMCU_row * mcu_rows);
}

static void
on_message (j_common_ptr cinfo, int level)
{
  SpdlJpeg *self = jpeg_of (cinfo);

  if (level < 0 && cinfo->err->msg_code == JWRN_HIT_MARKER &&
      self->cinfo.unread_marker == JPEG_EOI)
    note_end (self);
  if (level >= 0 || self->lost != 0 ||
      !costs_pixels (self, cinfo->err->msg_code))
    return;
  self->lost = cinfo->err->msg_code;
  cinfo->err->format_message (cinfo, self->message);
}

static void
on_progress (j_common_ptr cinfo)
{
  SpdlJpeg *self = jpeg_of (cinfo);

  if (self->cinfo.input_scan_number <= MAX_SCANS)
    return;
  g_snprintf (self->message, sizeof self->message, "it has more than %u scans",
      MAX_SCANS);
  longjmp (self->on_error, 1);
}

static void
create (SpdlJpeg *self)
{
  jpeg_create_decompress (&self->cinfo);
  self->cinfo.progress = &self->progress;
}

SpdlJpeg *
spdl_jpeg_new (void)
{
  SpdlJpeg *self = g_new0 (SpdlJpeg, 1);

  self->cinfo.err = jpeg_std_error (&self->errors);
  self->errors.error_exit = on_error;
  self->errors.emit_message = on_message;
  self->progress.progress_monitor = on_progress;
  self->cinfo.client_data = self;
  if (setjmp (self->on_error) != 0)
    g_error ("libjpeg: %s", self->message);
  create (self);
  if (spdl_entropy_choose ()->decoder == SPDL_ENTROPY_DECODER_SPDL)
    self->entropy = spdl_entropy_new ();
  return self;
}

void
spdl_jpeg_free (SpdlJpeg *self)
{
  jpeg_destroy_decompress (&self->cinfo);
  spdl_entropy_free (self->entropy);
  g_free (self);
}

gboolean
spdl_jpeg_is_jpeg (const guint8 *data, gsize size)
{
  return size >= 3 && data[0] == 0xff && data[1] == 0xd8;
}

gboolean
spdl_jpeg_give_up (SpdlJpeg *self, GError **error)
{
  jpeg_abort_decompress (&self->cinfo);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken JPEG: %s", self->message);
  return FALSE;
}

/* Tables stay from file to file, for streams that send theirs once. Here each
 * file stands alone: one that does without a table, as no sound one does, must
 * not have what another one left. */

static void
mark_tables (SpdlJpeg *self)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  for (guint i = 0; i < NUM_HUFF_TBLS; i++) {
    if (cinfo->dc_huff_tbl_ptrs[i])
      cinfo->dc_huff_tbl_ptrs[i]->bits[0] = 1; /* which a file makes 0 */
    if (cinfo->ac_huff_tbl_ptrs[i])
      cinfo->ac_huff_tbl_ptrs[i]->bits[0] = 1;
  }
  for (guint i = 0; i < NUM_QUANT_TBLS; i++)
    if (cinfo->quant_tbl_ptrs[i])
      cinfo->quant_tbl_ptrs[i]->quantval[0] = 0;
}

static gboolean
has_marked_tables (const SpdlJpeg *self)
{
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  gboolean has = FALSE;

  for (guint i = 0; i < NUM_HUFF_TBLS; i++) {
    const JHUFF_TBL *dc = cinfo->dc_huff_tbl_ptrs[i];
    const JHUFF_TBL *ac = cinfo->ac_huff_tbl_ptrs[i];

    has |= (dc && dc->bits[0] != 0) || (ac && ac->bits[0] != 0);
  }
  for (guint i = 0; i < NUM_QUANT_TBLS; i++) {
    const JQUANT_TBL *quant = cinfo->quant_tbl_ptrs[i];

    has |= quant && quant->quantval[0] == 0;
  }
  return has;
}

/* Fail for the files that libjpeg-turbo 2 refuses and libjpeg-turbo 3 reads. It
 * has functions of their own for 12 bits, and neither scales nor crops lossless
 * files, of which a block is one sample: rows would be longer than the caller
 * expects. */
static void
check_process (SpdlJpeg *self)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  if (cinfo->data_precision != 8)
    ERREXIT1 (cinfo, JERR_BAD_PRECISION, cinfo->data_precision);
  if (LEAST_BLOCK_SIDE (cinfo) != DCTSIZE)
    ERREXIT1 (cinfo, JERR_SOF_UNSUPPORTED, cinfo->arith_code ? 0xcb : 0xc3);
}

static void
read_header (SpdlJpeg *self, const guint8 *data, gsize size)
{
  jpeg_mem_src (&self->cinfo, data, size);
  if (jpeg_read_header (&self->cinfo, TRUE) != JPEG_HEADER_OK)
    ERREXIT (&self->cinfo, JERR_NO_IMAGE);
  check_process (self);
}

gboolean
spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error)
{
  self->lost = 0;
  self->n_rows = self->x_begin = 0;
  self->reduction = 1;
  self->missing_from = G_MAXUINT;
  if (setjmp (self->on_error) != 0)
    return spdl_jpeg_give_up (self, error);
  jpeg_abort_decompress (&self->cinfo);
  mark_tables (self);
  read_header (self, data, size);
  if (has_marked_tables (self)) {
    jpeg_destroy_decompress (&self->cinfo);
    create (self);
    read_header (self, data, size);
  }
  *width = self->cinfo.image_width;
  *height = self->cinfo.image_height;
  return TRUE;
}

void
spdl_jpeg_set_reduction (SpdlJpeg *self, guint by)
{
  self->reduction = by;
  self->cinfo.scale_num = 1;
  self->cinfo.scale_denom = by;
}

static boolean
decode_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return spdl_entropy_decode (
      jpeg_of ((j_common_ptr) cinfo)->entropy, cinfo, blocks);
}

void
spdl_jpeg_start (SpdlJpeg *self)
{
  jpeg_start_decompress (&self->cinfo);
  if (self->entropy)
    spdl_entropy_begin (self->entropy, &self->cinfo, decode_mcu);
}

void
spdl_jpeg_crop_columns (SpdlJpeg *self, JDIMENSION *begin, JDIMENSION *width)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint imcu = cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo);

  spdl_jpeg_crop_scanline (cinfo, begin, width);
  /* Where there is one component, these are no MCUs. */
  if (self->entropy &&
      (cinfo->num_components > 1 || cinfo->max_h_samp_factor == 1))
    spdl_entropy_set_columns (
        self->entropy, *begin / imcu, (*begin + *width + imcu - 1) / imcu);
}
