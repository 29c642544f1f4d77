/* gst-spdl: PNG by libpng
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <png.h>
#include <string.h>

#include "plugins/codec/result/target.h"
#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/still/pngfile.h"

/* The last of Adam7's passes completes rows. */
#define LAST_PASS 6

typedef struct {
  gchar message[256];

  /* The file in hand. */
  png_structp png;
  png_infop info;
  SpdlPngFile file;
  gboolean has_alpha;
  gint n_passes;
  gint pass;
  guint n_rows; /* of the pass, that are there */

  guint8 *pixels; /* that are yet to be blended, or to be completed */
  gsize pixels_size;
} Png;

/* libpng's functions */

static void
on_error (png_structp png, png_const_charp message)
{
  Png *self = png_get_error_ptr (png);

  g_strlcpy (self->message, message, sizeof self->message);
  longjmp (png_jmpbuf (png), 1);
}

static void
on_warning (png_structp png, png_const_charp message)
{
}

static void
read_data (png_structp png, png_bytep to, size_t n)
{
  Png *self = png_get_io_ptr (png);

  if (!spdl_png_file_read (&self->file, to, n))
    png_error (png, "it ends early");
}

static gboolean
set_broken (Png *self, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken PNG: %s", self->message);
  return FALSE;
}

static gboolean
set_no_memory (GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "There is no memory to decode a PNG");
  return FALSE;
}

/* One file */

static gboolean
accepts (const guint8 *data, gsize size)
{
  return memcmp (data, "\x89PNG\r\n\x1a\n", SPDL_PNG_SIGNATURE) == 0;
}

static gpointer
create (void)
{
  return g_new0 (Png, 1);
}

static void
close_file (gpointer decoder)
{
  Png *self = decoder;

  png_destroy_read_struct (&self->png, &self->info, NULL);
}

static void
destroy (gpointer decoder)
{
  Png *self = decoder;

  close_file (self);
  spdl_png_file_clear (&self->file);
  g_free (self->pixels);
  g_free (self);
}

/* Nothing but pixels and transparency is read. */
static gboolean
open_file (Png *self)
{
  self->png = png_create_read_struct (
      PNG_LIBPNG_VER_STRING, self, on_error, on_warning);
  if (!self->png || !(self->info = png_create_info_struct (self->png)))
    return FALSE;
  png_set_read_fn (self->png, self, read_data);
  png_set_keep_unknown_chunks (self->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_user_limits (self->png, SPDL_MAX_DECODED_SIDE, SPDL_MAX_DECODED_SIDE);
  return TRUE;
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Png *self = decoder;

  spdl_png_file_open (&self->file, data, size);
  if (!open_file (self))
    return set_no_memory (error);
  if (setjmp (png_jmpbuf (self->png)) != 0)
    return set_broken (self, error);
  png_read_info (self->png, self->info);
  header->width = png_get_image_width (self->png, self->info);
  header->height = png_get_image_height (self->png, self->info);
  header->orientation = spdl_png_file_find_orientation (&self->file);
  return TRUE;
}

/* Rows */

/* Has libpng begin anew, with a file whose pixels are stored. What comes before
 * them was read without an error. */
static gboolean
open_stored (Png *self)
{
  if (!spdl_png_file_store (&self->file))
    return TRUE;
  close_file (self);
  if (!open_file (self))
    return FALSE;
  png_set_crc_action (self->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
#ifdef PNG_IGNORE_ADLER32 /* not in all builds of libpng; the sum is right */
  png_set_option (self->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
  return TRUE;
}

/* Asks for pixels of @rows' kind, or with alpha. */
static void
set_transforms (Png *self, const SpdlRows *rows)
{
  const guint8 kind = png_get_color_type (self->png, self->info);

  self->has_alpha = kind & PNG_COLOR_MASK_ALPHA ||
                    png_get_valid (self->png, self->info, PNG_INFO_tRNS);
  png_set_expand (self->png);
  png_set_scale_16 (self->png);
  if (!(kind & PNG_COLOR_MASK_COLOR))
    png_set_gray_to_rgb (self->png);
  if (!self->has_alpha && rows->bgr)
    png_set_bgr (self->png);
  if (!self->has_alpha && rows->pixel_size == 4)
    png_set_filler (self->png, 0, PNG_FILLER_AFTER);
  self->n_passes = png_set_interlace_handling (self->png);
  png_read_update_info (self->png, self->info);
}

static gboolean
ensure_pixels (Png *self, gsize size)
{
  if (size <= self->pixels_size)
    return TRUE;
  g_free (self->pixels);
  self->pixels = g_try_malloc (size);
  self->pixels_size = self->pixels ? size : 0;
  return self->pixels != NULL;
}

/* A row that libpng wrote to @from goes to its place. */
static void
put_row (const Png *self, const SpdlRows *rows, guint y, const guint8 *from)
{
  guint8 *to = rows->get_row (rows->user_data, y);

  if (self->has_alpha)
    spdl_rows_put_rgba (rows, to, from, rows->width, SPDL_ALPHA_STRAIGHT);
  else if (to != from)
    memcpy (to, from, rows->width * (gsize) rows->pixel_size);
  rows->rows_done (rows->user_data, y + 1);
}

static void
read_progressively (Png *self, const SpdlRows *rows)
{
  for (guint y = 0; y < rows->y_end; y++) {
    guint8 *to =
        self->has_alpha ? self->pixels : rows->get_row (rows->user_data, y);

    png_read_row (self->png, to, NULL);
    put_row (self, rows, y, to);
    self->n_rows = y + 1;
  }
}

static void
read_passes (Png *self, const SpdlRows *rows, gsize stride)
{
  for (; self->pass < self->n_passes; self->pass++) {
    self->n_rows = 0;
    for (guint y = 0; y < rows->height; y++) {
      png_read_row (self->png, self->pixels + y * stride, NULL);
      self->n_rows = y + 1;
    }
  }
}

static void
put_passes (Png *self, const SpdlRows *rows, gsize stride)
{
  const guint n = self->pass >= LAST_PASS ? self->n_rows : 0;

  for (guint y = 0; y < MIN (n, rows->y_end); y++)
    put_row (self, rows, y, self->pixels + y * stride);
  self->n_rows = n;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Png *self = decoder;
  gsize stride;

  self->n_rows = 0;
  self->n_passes = self->pass = 0;
  if (!open_stored (self))
    return set_no_memory (error);
  if (setjmp (png_jmpbuf (self->png)) != 0) {
    if (keep && self->n_passes > 1)
      put_passes (self, rows, png_get_rowbytes (self->png, self->info));
    if (keep)
      spdl_rows_fill (rows, self->n_rows);
    return set_broken (self, error);
  }
  if (self->file.is_stored)
    png_read_info (self->png, self->info);
  set_transforms (self, rows);
  stride = png_get_rowbytes (self->png, self->info);
  if (!ensure_pixels (
          self, self->n_passes > 1 ? stride * rows->height : stride))
    return set_no_memory (error);
  if (self->n_passes > 1) {
    read_passes (self, rows, stride);
    put_passes (self, rows, stride);
  } else {
    read_progressively (self, rows);
  }
  return TRUE;
}

const SpdlImageDecoder spdl_png_decoder = { "image/png", accepts, create,
  destroy, read_header, read_rows, close_file };
