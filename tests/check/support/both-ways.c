/* gst-spdl: JPEG decoding with and without gst-spdl's Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/both-ways.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "plugins/codec/jpeg/entropy.h"
#include "plugins/codec/jpeg/jpeg-private.h"
#include "plugins/codec/jpeg/libjpeg.h"
#include "plugins/codec/jpeg/progressive.h"

/* Larger images are skipped. */
#define MAX_PIXELS (1 << 18)
#define MAX_SCANS 100

typedef struct {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  SpdlEntropy *entropy; /* NULL: libjpeg's decoder */
  SpdlProgressive *progressive;
  const guint8 *data;
  gsize size;
  gboolean is_progressive; /* by its first header */
  GByteArray *pixels;
  GString *said;
  guint8 *row;
  gboolean began;
  guint x_begin, x_end; /* requested range of pixels in a row */
  Outcome outcome;
} Decoder;

static void
say (Decoder *self)
{
  gchar message[JMSG_LENGTH_MAX];

  self->errors.format_message ((j_common_ptr) &self->cinfo, message);
  g_string_append_printf (
      self->said, "%u: %s\n", self->cinfo.output_scanline, message);
}

static void
on_error (j_common_ptr cinfo)
{
  Decoder *self = cinfo->client_data;

  say (self);
  longjmp (self->on_error, 1);
}

static void
on_message (j_common_ptr cinfo, int level)
{
  Decoder *self = cinfo->client_data;

  /* libjpeg reads ahead. It may warn about the end of the file although all
   * needed data is there, and about bytes before a marker that no code uses. */
  if (level >= 0 || cinfo->err->msg_code == JWRN_JPEG_EOF ||
      cinfo->err->msg_code == JWRN_EXTRANEOUS_DATA)
    return;
  self->outcome.n_warnings++;
  say (self);
}

static void
on_progress (j_common_ptr cinfo)
{
  Decoder *self = cinfo->client_data;

  if (self->cinfo.input_scan_number > MAX_SCANS)
    longjmp (self->on_error, 1);
}

static boolean
decode_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  Decoder *self = cinfo->client_data;

  return spdl_entropy_decode (self->entropy, cinfo, blocks);
}

static void
start_pass (j_decompress_ptr cinfo)
{
  Decoder *self = cinfo->client_data;

  spdl_progressive_start_pass (self->progressive, cinfo);
}

static boolean
decode_progressive_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  Decoder *self = cinfo->client_data;

  return spdl_progressive_decode_mcu (self->progressive, cinfo, blocks);
}

static void
open_file (Decoder *self, const Wish *wish)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  jpeg_mem_src (cinfo, self->data, self->size);
  jpeg_read_header (cinfo, TRUE);
  self->is_progressive = cinfo->progressive_mode;
  cinfo->scale_num = 1;
  cinfo->scale_denom = wish->reduction;
}

static void
begin (Decoder *self, const Wish *wish)
{
  static const SpdlProgressiveHooks hooks = { start_pass,
    decode_progressive_mcu };
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  if (self->progressive && spdl_progressive_accepts (cinfo)) {
    self->began = spdl_progressive_start (self->progressive, cinfo, &hooks);
    if (self->began)
      return;
    jpeg_destroy_decompress (cinfo);
    jpeg_create_decompress (cinfo);
    cinfo->progress = &self->progress;
    self->outcome.n_warnings = 0;
    self->outcome.fell_back = TRUE;
    g_string_truncate (self->said, 0);
    open_file (self, wish);
  }
  jpeg_start_decompress (cinfo);
  if (!self->entropy)
    return;
  self->began = spdl_entropy_begin (self->entropy, cinfo, decode_mcu);
}

static void
crop (Decoder *self, const Wish *wish)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const JDIMENSION n_columns = cinfo->output_width;
  JDIMENSION x, width;
  const guint side = cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo);

  self->x_begin = n_columns * wish->x_part / 256;
  self->x_end = self->x_begin +
                MAX (1, (n_columns - self->x_begin) * wish->width_part / 256);

  /* The upsampler mixes the outermost block with its neighbor, which must be
   * decoded as well. */
  x = self->x_begin - MIN (self->x_begin, side);
  width = MIN (self->x_end + side, n_columns) - x;
  if (width == n_columns)
    return;
  /* Not jpeg_crop_scanline(): before libjpeg-turbo 3.0.0 it makes pixels of
   * some files depend on uninitialized memory (see jpeg-private.h), so the
   * reference varies from call to call; first seen with NEON. */
  spdl_jpeg_crop_scanline (cinfo, &x, &width);
  self->x_begin -= x;
  self->x_end -= x;
  if (self->entropy &&
      (cinfo->num_components > 1 || cinfo->max_h_samp_factor == 1))
    spdl_entropy_set_columns (
        self->entropy, x / side, (x + width + side - 1) / side);
}

static void
read_pixels (Decoder *self, const Wish *wish)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  self->row = g_malloc0 (cinfo->output_width * cinfo->output_components);
  if (wish->y_part > 0)
    jpeg_skip_scanlines (cinfo, cinfo->output_height * wish->y_part / 256);
  while (cinfo->output_scanline < cinfo->output_height) {
    JSAMPROW rows[] = { self->row };

    if (jpeg_read_scanlines (cinfo, rows, 1) != 1)
      g_error ("libjpeg waits for more");
    g_byte_array_append (self->pixels,
        self->row + self->x_begin * cinfo->output_components,
        (self->x_end - self->x_begin) * cinfo->output_components);
  }
}

static void
decode (Decoder *self, const guint8 *data, gsize size, const Wish *wish)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  if (setjmp (self->on_error) != 0)
    return;
  self->data = data;
  self->size = size;
  open_file (self, wish);
  if ((guint64) cinfo->image_width * cinfo->image_height > MAX_PIXELS)
    return;
  self->outcome.width = cinfo->image_width;
  self->outcome.height = cinfo->image_height;
  begin (self, wish);
  crop (self, wish);
  read_pixels (self, wish);
  if (!self->is_progressive)
    self->outcome.fell_back =
        self->began &&
        spdl_libjpeg_get_entropy (cinfo)->decode_mcu != decode_mcu;
}

static Decoder *
decoder_new (SpdlEntropy *entropy)
{
  Decoder *self = g_new0 (Decoder, 1);

  self->cinfo.err = jpeg_std_error (&self->errors);
  self->errors.error_exit = on_error;
  self->errors.emit_message = on_message;
  self->cinfo.client_data = self;
  if (setjmp (self->on_error) != 0)
    g_error ("libjpeg: %s", self->said->str);
  self->said = g_string_new (NULL);
  self->pixels = g_byte_array_new ();
  self->entropy = entropy;
  jpeg_create_decompress (&self->cinfo);
  self->progress.progress_monitor = on_progress;
  self->cinfo.progress = &self->progress;
  return self;
}

static void
decoder_free (Decoder *self)
{
  jpeg_destroy_decompress (&self->cinfo);
  g_free (self->row);
  g_byte_array_unref (self->pixels);
  g_string_free (self->said, TRUE);
  g_free (self);
}

Outcome
decode_both_ways (const guint8 *data, gsize size, const Wish *wish)
{
  /* Alternates between decoders: cached tables must not be used for a file with
   * other tables. */
  static SpdlEntropy *entropies[4];
  static SpdlProgressive *progressives[4];
  static guint turn;
  SpdlEntropy **entropy = &entropies[turn = (turn + 1) % 4];
  Decoder *alone = decoder_new (NULL), *with;
  Outcome outcome;

  if (!*entropy) {
    *entropy = spdl_entropy_new ();
    spdl_entropy_set_ways (*entropy, turn & 1, turn & 2);
    progressives[turn] = spdl_progressive_new ();
    if (turn & 1)
      spdl_progressive_set_plain (progressives[turn]);
  }
  with = decoder_new (*entropy);
  with->progressive = progressives[turn];
  decode (alone, data, size, wish);
  decode (with, data, size, wish);
  outcome = with->outcome;
  /* Damage in a scan that a reduced image does not need is not seen. */
  if (wish->reduction == DCTSIZE && with->is_progressive &&
      !outcome.fell_back && alone->outcome.n_warnings > 0) {
    decoder_free (alone);
    decoder_free (with);
    return outcome;
  }
  g_assert_cmpstr (alone->said->str, ==, with->said->str);
  g_assert_cmpmem (alone->pixels->data, alone->pixels->len, with->pixels->data,
      with->pixels->len);
  decoder_free (alone);
  decoder_free (with);
  return outcome;
}

void
check_columns (const guint8 *data, gsize size, const Wish *wish)
{
  const Wish all = { wish->reduction, 0, wish->y_part, 256 };
  Decoder *whole = decoder_new (NULL), *part = decoder_new (NULL);
  gsize n, stride, skip;

  decode (whole, data, size, &all);
  decode (part, data, size, wish);
  n = (part->x_end - part->x_begin) * part->cinfo.output_components;
  stride = whole->cinfo.output_width * whole->cinfo.output_components;
  skip = whole->cinfo.output_width * wish->x_part / 256 *
         whole->cinfo.output_components;
  g_assert_cmpuint (whole->pixels->len / stride, ==, part->pixels->len / n);
  for (gsize y = 0; y < part->pixels->len / n; y++)
    g_assert_cmpmem (part->pixels->data + y * n, n,
        whole->pixels->data + y * stride + skip, n);
  decoder_free (whole);
  decoder_free (part);
}
