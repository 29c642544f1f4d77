/* gst-spdl: rows of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/jpeg-private.h"

static J_COLOR_SPACE
color_space (const SpdlRows *rows)
{
  if (rows->pixel_size == 4)
    return rows->bgr ? JCS_EXT_BGRX : JCS_EXT_RGBX;
  return rows->bgr ? JCS_EXT_BGR : JCS_EXT_RGB;
}

/* Four colour components, which libjpeg does not convert to three. */
static gboolean
is_cmyk (const SpdlJpeg *self)
{
  return self->cinfo.jpeg_color_space == JCS_CMYK ||
         self->cinfo.jpeg_color_space == JCS_YCCK;
}

/* @cmyk is inverted, as all programs write it that write it at all. */
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

/* Reads the next rows, through @cmyk where it is set; after an error does not
 * return. */
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

/* Leaves out the columns and rows that do not count. Columns go by whole
 * blocks, with one more on either side, whose chroma is looked at. */
static void
crop (SpdlJpeg *self, const SpdlRows *rows)
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
  crop (self, rows);
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
  /* What stands behind the last row is nobody's business. */
  jpeg_abort_decompress (cinfo);
  return TRUE;
}
