/* gst-spdl: a JPEG decompressor that is used again and again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdljpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>

#ifndef JCS_EXTENSIONS
#error "libjpeg-turbo's colour spaces with padding are needed"
#endif

/* The most rows that one call for rows is worth: those of an iMCU. */
#define MAX_ROWS 32

struct _SpdlJpeg {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  jmp_buf on_error;
  gint lost; /* the first warning that means lost pixels; 0: none */
  gchar message[JMSG_LENGTH_MAX];
};

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
      return jpeg_has_multiple_scans (&self->cinfo);
    default:
      return FALSE;
  }
}

static void
on_message (j_common_ptr cinfo, int level)
{
  SpdlJpeg *self = jpeg_of (cinfo);

  if (level >= 0 || self->lost != 0 ||
      !costs_pixels (self, cinfo->err->msg_code))
    return;
  self->lost = cinfo->err->msg_code;
  cinfo->err->format_message (cinfo, self->message);
}

SpdlJpeg *
spdl_jpeg_new (void)
{
  SpdlJpeg *self = g_new0 (SpdlJpeg, 1);

  self->cinfo.err = jpeg_std_error (&self->errors);
  self->errors.error_exit = on_error;
  self->errors.emit_message = on_message;
  self->cinfo.client_data = self;
  if (setjmp (self->on_error) != 0)
    g_error ("libjpeg: %s", self->message);
  jpeg_create_decompress (&self->cinfo);
  return self;
}

void
spdl_jpeg_free (SpdlJpeg *self)
{
  jpeg_destroy_decompress (&self->cinfo);
  g_free (self);
}

gboolean
spdl_jpeg_is_jpeg (const guint8 *data, gsize size)
{
  return size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff;
}

/* Ends the file in hand, and makes ready for the next. */
static gboolean
give_up (SpdlJpeg *self, GError **error)
{
  jpeg_abort_decompress (&self->cinfo);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken JPEG: %s", self->message);
  return FALSE;
}

gboolean
spdl_jpeg_read_header (SpdlJpeg *self, const guint8 *data, gsize size,
    guint *width, guint *height, GError **error)
{
  self->lost = 0;
  if (setjmp (self->on_error) != 0)
    return give_up (self, error);
  jpeg_abort_decompress (&self->cinfo);
  jpeg_mem_src (&self->cinfo, data, size);
  jpeg_read_header (&self->cinfo, TRUE);
  *width = self->cinfo.image_width;
  *height = self->cinfo.image_height;
  if (self->cinfo.num_components == 4) {
    jpeg_abort_decompress (&self->cinfo);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
        "It is a JPEG of four colour components (CMYK), which spdldecode does "
        "not convert");
    return FALSE;
  }
  return TRUE;
}

static J_COLOR_SPACE
color_space (SpdlJpegFormat format)
{
  switch (format) {
    case SPDL_JPEG_BGR:
      return JCS_EXT_BGR;
    case SPDL_JPEG_RGBX:
      return JCS_EXT_RGBX;
    case SPDL_JPEG_BGRX:
      return JCS_EXT_BGRX;
    case SPDL_JPEG_RGB:
    default:
      return JCS_EXT_RGB;
  }
}

/* Reads the next rows; after an error does not return. */
static void
read_some (SpdlJpeg *self, const SpdlJpegRows *rows)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;
  const guint y = cinfo->output_scanline;
  const guint n =
      MIN (MIN ((guint) cinfo->max_v_samp_factor * DCTSIZE, MAX_ROWS),
          cinfo->output_height - y);
  JSAMPROW places[MAX_ROWS];

  for (guint i = 0; i < n; i++)
    places[i] = rows->get_row (rows->user_data, y + i);
  jpeg_read_scanlines (cinfo, places, n);
  rows->rows_done (rows->user_data, cinfo->output_scanline);
}

gboolean
spdl_jpeg_read_rows (SpdlJpeg *self, SpdlJpegFormat format,
    const SpdlJpegRows *rows, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->cinfo;

  if (setjmp (self->on_error) != 0)
    return give_up (self, error);
  cinfo->out_color_space = color_space (format);
  jpeg_start_decompress (cinfo);
  while (cinfo->output_scanline < cinfo->output_height && self->lost == 0)
    read_some (self, rows);
  if (self->lost != 0)
    return give_up (self, error);
  /* What stands behind the last row is nobody's business. */
  jpeg_abort_decompress (cinfo);
  return TRUE;
}
