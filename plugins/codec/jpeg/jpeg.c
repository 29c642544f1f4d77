/* gst-spdl: JPEG decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/jpeg.h"

#include <string.h>

#include "plugins/codec/jpeg/entropycheck.h"
#include "plugins/codec/jpeg/jpeg-private.h"

/* Included after libjpeg's header, which it depends on. */
#include <jerror.h>

/* Limit on scans. A scan of a few bytes costs a pass over all blocks, so a file
 * of a megabyte could take minutes. Encoders write about ten scans. */
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

/* Returns whether a warning means that pixels are wrong or missing. A premature
 * end of data is not sufficient in a file with a single scan: the last bits may
 * be complete, and if they are not, libjpeg emits another warning. */
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
      /* Before the first scan the number of scans is unknown; libjpeg reports
       * an error then. */
      return self->cinfo.input_scan_number > 0 &&
             jpeg_has_multiple_scans (&self->cinfo);
    default:
      return FALSE;
  }
}

/* Records that rows end where the data of the first scan ends. Later scans only
 * refine the rows. */
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
  g_snprintf (self->message, sizeof self->message,
      "the file has more than %u scans", MAX_SCANS);
  longjmp (self->on_error, 1);
}

static void
create_decompressor (SpdlJpeg *self)
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
  create_decompressor (self);
  if (!spdl_entropy_choose ()->reason)
    self->entropy = spdl_entropy_new ();
  if (self->entropy)
    self->progressive = spdl_progressive_new ();
  return self;
}

void
spdl_jpeg_free (SpdlJpeg *self)
{
  jpeg_destroy_decompress (&self->cinfo);
  spdl_entropy_free (self->entropy);
  spdl_progressive_free (self->progressive);
  g_free (self);
}

gboolean
spdl_jpeg_is_jpeg (const guint8 *data, gsize size)
{
  return size >= 3 && data[0] == 0xff && data[1] == 0xd8;
}

/* Aborts the current file with an error. Returns FALSE. */
static gboolean
spdl_jpeg_give_up (SpdlJpeg *self, GError **error)
{
  jpeg_abort_decompress (&self->cinfo);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt JPEG: %s", self->message);
  return FALSE;
}

/* Marks all tables. libjpeg keeps tables between files, for abbreviated streams
 * that send them once. Here, a file that lacks a table must not be decoded with
 * the table of another file. */

static void
mark_tables (SpdlJpeg *self)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  for (guint i = 0; i < NUM_HUFF_TBLS; i++) {
    if (cinfo->dc_huff_tbl_ptrs[i])
      cinfo->dc_huff_tbl_ptrs[i]->bits[0] =
          1; /* libjpeg sets it to 0 when it reads a table */
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

/* Fails for files that libjpeg-turbo 2 rejects and libjpeg-turbo 3 reads. For
 * 12-bit files it has separate functions. It neither scales nor crops lossless
 * files, whose blocks are a single sample, so rows would be longer than the
 * caller expects. */
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
read_header (SpdlJpeg *self)
{
  jpeg_mem_src (&self->cinfo, self->data, self->size);
  if (jpeg_read_header (&self->cinfo, TRUE) != JPEG_HEADER_OK)
    ERREXIT (&self->cinfo, JERR_NO_IMAGE);
  check_process (self);
}

/* Reads the header with a decompressor that has no tables yet. */
static void
read_header_anew (SpdlJpeg *self)
{
  jpeg_destroy_decompress (&self->cinfo);
  create_decompressor (self);
  read_header (self);
}

gboolean
spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error)
{
  self->data = data;
  self->size = size;
  self->lost = 0;
  self->n_rows = self->x_begin = 0;
  self->reduction = 1;
  self->missing_from = G_MAXUINT;
  if (setjmp (self->on_error) != 0)
    return spdl_jpeg_give_up (self, error);
  jpeg_abort_decompress (&self->cinfo);
  mark_tables (self);
  read_header (self);
  if (has_marked_tables (self))
    read_header_anew (self);
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

static void
start_pass (j_decompress_ptr cinfo)
{
  spdl_progressive_start_pass (
      jpeg_of ((j_common_ptr) cinfo)->progressive, cinfo);
}

static boolean
decode_progressive_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return spdl_progressive_decode_mcu (
      jpeg_of ((j_common_ptr) cinfo)->progressive, cinfo, blocks);
}

/* Opens the file again, with the same output parameters. Tables must not stay:
 * a scan may lack its own. */
static void
open_again (SpdlJpeg *self)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const J_COLOR_SPACE color_space = cinfo->out_color_space;
  const boolean raw_data_out = cinfo->raw_data_out;

  self->lost = 0;
  self->missing_from = G_MAXUINT;
  read_header_anew (self);
  spdl_jpeg_set_reduction (self, self->reduction);
  cinfo->out_color_space = color_space;
  cinfo->raw_data_out = raw_data_out;
}

/* Starts decompression after the output parameters are set. */
static void
spdl_jpeg_start (SpdlJpeg *self)
{
  static const SpdlProgressiveHooks hooks = { start_pass,
    decode_progressive_mcu };

  if (self->progressive && spdl_progressive_accepts (&self->cinfo)) {
    if (spdl_progressive_start (self->progressive, &self->cinfo, &hooks))
      return;
    open_again (self);
  }
  jpeg_start_decompress (&self->cinfo);
  if (self->entropy)
    spdl_entropy_begin (self->entropy, &self->cinfo, decode_mcu);
}

void
spdl_jpeg_crop_scanline (
    j_decompress_ptr cinfo, JDIMENSION *begin, JDIMENSION *width)
{
  const guint whole = cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo);

  jpeg_crop_scanline (cinfo, begin, width);
  for (gint i = 0; i < cinfo->num_components; i++) {
    jpeg_component_info *component = cinfo->comp_info + i;
    const guint part = component->h_samp_factor * BLOCK_SIDE (component);

    /* The upsampler reads this for each row; nothing reads it earlier. */
    component->downsampled_width =
        (cinfo->output_width * part + whole - 1) / whole;
  }
}

/* Limits decoding to the needed columns, rounded to whole iMCUs. @begin and
 * @width are set to the decoded columns. */
static void
spdl_jpeg_crop_columns (SpdlJpeg *self, JDIMENSION *begin, JDIMENSION *width)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint imcu = cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo);

  spdl_jpeg_crop_scanline (cinfo, begin, width);
  /* With a single component, iMCUs differ from MCUs. */
  if (self->entropy &&
      (cinfo->num_components > 1 || cinfo->max_h_samp_factor == 1))
    spdl_entropy_set_columns (
        self->entropy, *begin / imcu, (*begin + *width + imcu - 1) / imcu);
}

/* Rows */

static J_COLOR_SPACE
color_space (const SpdlRows *rows)
{
  if (rows->pixel_size == 4)
    return rows->bgr ? JCS_EXT_BGRX : JCS_EXT_RGBX;
  return rows->bgr ? JCS_EXT_BGR : JCS_EXT_RGB;
}

/* Returns whether the file has four color components, which libjpeg does not
 * convert to RGB. */
static gboolean
is_cmyk (const SpdlJpeg *self)
{
  return self->cinfo.jpeg_color_space == JCS_CMYK ||
         self->cinfo.jpeg_color_space == JCS_YCCK;
}

/* Converts a row of @cmyk, which is inverted: all known encoders write it that
 * way. */
static void
convert_cmyk (const SpdlRows *rows, const guint8 *cmyk, guint8 *to, guint n)
{
  const guint red = rows->bgr ? 2 : 0;

  for (guint x = 0; x < n; x++) {
    const guint k = cmyk[3];

    to[red] = (cmyk[0] * k + 127) / 255;
    to[1] = (cmyk[1] * k + 127) / 255;
    to[2 - red] = (cmyk[2] * k + 127) / 255;
    cmyk += 4;
    to += rows->pixel_size;
  }
}

/* Reads the next rows, through @cmyk if it is set. Does not return after an
 * error. */
static void
read_some (SpdlJpeg *self, const SpdlRows *rows, JSAMPARRAY cmyk)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint y = cinfo->output_scanline;
  const guint n =
      MIN (MIN ((guint) cinfo->max_v_samp_factor * DCTSIZE, MAX_ROWS),
          rows->y_end - y);
  JSAMPROW places[MAX_ROWS];

  for (guint i = 0; i < n; i++)
    places[i] = rows->get_row (rows->user_data, y + i) +
                (gsize) self->x_begin * rows->pixel_size;
  jpeg_read_scanlines (cinfo, cmyk ? cmyk : places, n);
  self->n_rows = cinfo->output_scanline;
  for (guint i = 0; cmyk && y + i < self->n_rows; i++)
    convert_cmyk (rows, cmyk[i], places[i], cinfo->output_width);
  for (guint i = 0; self->lost != 0 && y + i < self->n_rows; i++)
    if (y + i >= self->missing_from)
      spdl_rows_fill_row (
          rows, places[i] - (gsize) self->x_begin * rows->pixel_size);
  rows->rows_done (rows->user_data, self->n_rows);
}

/* Skips columns and rows that are not needed. Columns are cropped to whole
 * blocks plus a block on either side, whose chroma the upsampler reads. */
static void
crop_columns (SpdlJpeg *self, const SpdlRows *rows)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint block = cinfo->max_h_samp_factor * DCTSIZE / self->reduction;
  JDIMENSION begin = rows->x_begin - MIN (rows->x_begin, block);
  JDIMENSION width = MIN (rows->x_end + block, rows->width) - begin;

  self->x_begin = 0;
  if (begin >= block || begin + width + block <= rows->width) {
    spdl_jpeg_crop_columns (self, &begin, &width);
    self->x_begin = begin;
  }
  if (rows->y_begin > 0)
    jpeg_skip_scanlines (cinfo, rows->y_begin);
  self->n_rows = cinfo->output_scanline;
}

static JSAMPARRAY
begin_rows (SpdlJpeg *self, const SpdlRows *rows)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const gboolean cmyk = is_cmyk (self);

  cinfo->out_color_space = cmyk ? JCS_CMYK : color_space (rows);
  spdl_jpeg_start (self);
  crop_columns (self, rows);
  if (!cmyk)
    return NULL;
  return cinfo->mem->alloc_sarray (
      (j_common_ptr) cinfo, JPOOL_IMAGE, rows->width * 4, MAX_ROWS);
}

gboolean
spdl_jpeg_read_rows (
    SpdlJpeg *self, const SpdlRows *rows, gboolean keep, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  JSAMPARRAY cmyk;

  if (setjmp (self->on_error) != 0) {
    spdl_jpeg_give_up (self, error);
    if (keep)
      spdl_rows_fill (rows, self->n_rows);
    return FALSE;
  }
  cmyk = begin_rows (self, rows);
  while (cinfo->output_scanline < rows->y_end && (keep || self->lost == 0))
    read_some (self, rows, cmyk);
  if (self->lost != 0)
    return spdl_jpeg_give_up (self, error);
  /* Data after the last row is ignored. */
  jpeg_abort_decompress (cinfo);
  return TRUE;
}

/* Planes */

/* Returns whether a component is subsampled by two in a direction. Sets
 * @is_known to FALSE if it is subsampled by more. */
static gboolean
is_half (const SpdlJpeg *self, int max_factor, int factor, int block_side,
    gboolean *is_known)
{
  const gint whole = max_factor * LEAST_BLOCK_SIDE (&self->cinfo);
  const gint part = factor * block_side;

  if (whole != part && whole != part * 2)
    *is_known = FALSE;
  return whole != part;
}

gboolean
spdl_jpeg_get_sampling (SpdlJpeg *self, SpdlSampling *sampling)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  gboolean is_known = TRUE;

  if (cinfo->jpeg_color_space != JCS_YCbCr &&
      cinfo->jpeg_color_space != JCS_GRAYSCALE)
    return FALSE;
  if (setjmp (self->on_error) != 0)
    return FALSE;
  jpeg_calc_output_dimensions (cinfo);
  sampling->n_planes = cinfo->num_components;
  for (gint i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;
    const gint side = BLOCK_SIDE (component);

    sampling->half_x[i] = is_half (self, cinfo->max_h_samp_factor,
        component->h_samp_factor, side, &is_known);
    sampling->half_y[i] = is_half (self, cinfo->max_v_samp_factor,
        component->v_samp_factor, side, &is_known);
    /* libjpeg replicates samples of components this small instead of
     * interpolating them. */
    if (LEAST_BLOCK_SIDE (cinfo) == 1 || component->downsampled_width <= 2)
      is_known &= !sampling->half_x[i] && !sampling->half_y[i];
  }
  return is_known;
}

/* Computes the rows of iMCUs to decode. */
static void
set_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const struct jpeg_decompress_struct *cinfo = &self->cinfo;
  Imcus *imcus = &self->imcus;

  imcus->n_planes = cinfo->num_components;
  imcus->n_lines = cinfo->max_v_samp_factor * LEAST_BLOCK_SIDE (cinfo);
  imcus->begin = planes->y_begin / imcus->n_lines;
  imcus->end = (planes->y_end + imcus->n_lines - 1) / imcus->n_lines;
  imcus->next = 0;
  for (guint i = 0; i < imcus->n_planes; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;
    const gint side = BLOCK_SIDE (component);

    imcus->n_rows[i] = component->v_samp_factor * side;
    imcus->widths[i] = component->width_in_blocks * side;
    imcus->skips[i] = 0;
  }
}

/* Fills the next row of iMCUs with the missing value. */
static void
fill_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const Imcus *imcus = &self->imcus;

  for (guint i = 0; i < imcus->n_planes; i++)
    for (guint k = 0; k < imcus->n_rows[i]; k++)
      memset (planes->get_row (
                  planes->user_data, i, imcus->next * imcus->n_rows[i] + k),
          planes->missing[i], imcus->widths[i]);
}

static void
imcus_done (SpdlJpeg *self, const SpdlPlanes *planes)
{
  Imcus *imcus = &self->imcus;

  imcus->next++;
  for (guint i = 0; i < imcus->n_planes; i++)
    planes->rows_done (planes->user_data, i, imcus->next * imcus->n_rows[i]);
}

/* Crops columns to whole iMCUs. libjpeg-turbo can crop planes, but its API
 * rejects the call in that state, so the state is changed during the call. A
 * very small width would make libjpeg set up its upsampling, which does not
 * exist in this mode. */
static void
crop_planes (SpdlJpeg *self, const SpdlPlanes *planes)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint n_least = 2 * MAX_SAMP_FACTOR;
  JDIMENSION begin = planes->x_begin, width = planes->x_end - begin;

  if (cinfo->global_state != SPDL_LIBJPEG_RAW_OK ||
      cinfo->output_width < n_least)
    return;
  begin = MIN (begin, cinfo->output_width - n_least);
  width = MAX (planes->x_end, begin + n_least) - begin;
  cinfo->global_state = SPDL_LIBJPEG_SCANNING;
  spdl_jpeg_crop_columns (self, &begin, &width);
  cinfo->global_state = SPDL_LIBJPEG_RAW_OK;
  for (gint i = 0; i < cinfo->num_components; i++) {
    const jpeg_component_info *component = cinfo->comp_info + i;

    self->imcus.skips[i] =
        begin * component->h_samp_factor * BLOCK_SIDE (component) /
        (cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo));
  }
}

/* Sets whether blocks are transformed. Entropy decoding covers all blocks. */
static void
need_blocks (SpdlJpeg *self, gboolean need)
{
  for (gint i = 0; i < self->cinfo.num_components; i++)
    self->cinfo.comp_info[i].component_needed = need;
}

/* Reads the next row of iMCUs. Does not return after an error. */
static void
read_imcus (SpdlJpeg *self, const SpdlPlanes *planes)
{
  const Imcus *imcus = &self->imcus;
  JSAMPROW places[SPDL_PLANES][MAX_ROWS];
  JSAMPARRAY components[SPDL_PLANES];

  for (guint i = 0; i < imcus->n_planes; i++) {
    components[i] = places[i];
    for (guint k = 0; k < imcus->n_rows[i]; k++)
      places[i][k] = planes->get_row (planes->user_data, i,
                         imcus->next * imcus->n_rows[i] + k) +
                     imcus->skips[i];
  }
  need_blocks (self, imcus->next >= imcus->begin);
  jpeg_read_raw_data (&self->cinfo, components, imcus->n_lines);
  if (self->lost != 0 && imcus->next * imcus->n_lines >= self->missing_from)
    fill_imcus (self, planes);
  imcus_done (self, planes);
}

gboolean
spdl_jpeg_read_planes (
    SpdlJpeg *self, const SpdlPlanes *planes, gboolean keep, GError **error)
{
  Imcus *imcus = &self->imcus;

  set_imcus (self, planes);
  if (setjmp (self->on_error) != 0) {
    spdl_jpeg_give_up (self, error);
    for (; keep && imcus->next < imcus->end; imcus_done (self, planes))
      fill_imcus (self, planes);
    return FALSE;
  }
  self->cinfo.raw_data_out = TRUE;
  spdl_jpeg_start (self);
  crop_planes (self, planes);
  while (imcus->next < imcus->end && (keep || self->lost == 0))
    read_imcus (self, planes);
  if (self->lost != 0)
    return spdl_jpeg_give_up (self, error);
  jpeg_abort_decompress (&self->cinfo);
  return TRUE;
}
