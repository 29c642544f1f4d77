/* gst-spdl: a PNG file in memory, as libpng reads it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Most of a PNG's time is spent in zlib. libdeflate needs less than half of it,
 * but inflates whole files, which libpng has no way to be given. So libpng
 * reads a file whose pixels are stored without compression: what comes before
 * them, and one IDAT chunk of what libdeflate made of all that the file has. */

#define SPDL_PNG_SIGNATURE 8

typedef struct {
  const guint8 *data;
  gsize size;
  gsize at;
  gsize next_chunk; /* where it begins */

  /* Of a file whose pixels are stored: where they begin, and what stands
   * between them. */
  gboolean is_stored;
  gsize begin;
  guint8 between[10];

  /* Kept from file to file. */
  struct libdeflate_decompressor *inflater;
  guint8 *pixels;
  gsize pixels_size;
  gsize n_pixels; /* bytes of them, in this file */
  guint8 *packed; /* several IDAT chunks in one piece */
  gsize packed_size;
} SpdlPngFile;

/* @data must stay as long as it is read. */
void spdl_png_file_open (SpdlPngFile *self, const guint8 *data, gsize size);
/* Frees what is kept. */
void spdl_png_file_clear (SpdlPngFile *self);

/* Begins again at the beginning, with pixels that are stored; FALSE if they
 * cannot be: nothing has changed then. */
gboolean spdl_png_file_store (SpdlPngFile *self);

/* Copies the next @n bytes; FALSE if there are fewer. */
gboolean spdl_png_file_read (SpdlPngFile *self, guint8 *to, gsize n);

/* EXIF's orientation, 1 to 8, wherever it stands. */
guint spdl_png_file_find_orientation (const SpdlPngFile *self);

G_END_DECLS
