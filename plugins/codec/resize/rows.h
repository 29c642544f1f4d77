/* gst-spdl: destination of the rows of a decoded image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Takes an image from a decoder, from the top. @get_row says where row @y is to
 * be written, at most SPDL_ROWS_AHEAD rows beyond those that are done;
 * @rows_done says that all rows before @y_end were. */
typedef struct {
  guint8 *(*get_row) (gpointer user_data, guint y);
  void (*rows_done) (gpointer user_data, guint y_end);
  gpointer user_data;

  guint width;
  guint height;
  /* What of it counts: all else need not be written. */
  guint x_begin, x_end;
  guint y_begin, y_end;
  guint pixel_size;   /* 3; or 4, with a byte behind each pixel that is free */
  gboolean bgr;       /* blue comes first */
  guint32 background; /* 0xRRGGBB, for what is missing or transparent */
} SpdlRows;

#define SPDL_ROWS_AHEAD 32

static inline void
spdl_rows_put_pixel (const SpdlRows *self, guint8 *at, guint32 rgb)
{
  at[self->bgr ? 2 : 0] = rgb >> 16;
  at[1] = rgb >> 8;
  at[self->bgr ? 0 : 2] = rgb;
}

static inline void
spdl_rows_fill_row (const SpdlRows *self, guint8 *row)
{
  for (guint x = 0; x < self->width; x++)
    spdl_rows_put_pixel (
        self, row + x * (gsize) self->pixel_size, self->background);
}

/* Exactly round (a * b / 255), for each up to 255. */
static inline guint
spdl_rows_scale (guint a, guint b)
{
  const guint product = a * b + 128;

  return (product + (product >> 8)) >> 8;
}

typedef enum {
  SPDL_ALPHA_NONE,          /* the fourth byte tells nothing */
  SPDL_ALPHA_STRAIGHT,      /* colours are as they are where it is 255 */
  SPDL_ALPHA_PREMULTIPLIED, /* colours are multiplied by it */
} SpdlAlpha;

/* Writes @n pixels of four bytes, red first, to @to, which may be @rgba where
 * rows have pixels of four bytes. What is transparent is blended over the
 * background. */
void spdl_rows_put_rgba (const SpdlRows *self, guint8 *to, const guint8 *rgba,
    guint n, SpdlAlpha alpha);

/* Fills the rows from @y on with the background. */
static inline void
spdl_rows_fill (const SpdlRows *self, guint y)
{
  for (; y < self->height; y++) {
    spdl_rows_fill_row (self, self->get_row (self->user_data, y));
    self->rows_done (self->user_data, y + 1);
  }
}

G_END_DECLS
