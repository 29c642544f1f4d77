/* gst-spdl: destination of the rows of a decoded image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

typedef enum {
  SPDL_PIXELS_COLOR,
  SPDL_PIXELS_INDEX, /* palette indices, or gray of at most 8 bits, as stored */
  SPDL_PIXELS_GRAY16, /* gray of 16 bits in native byte order, as stored */
} SpdlPixels;

/* Receives an image from a decoder, from the top. @get_row returns the memory
 * of row @y, at most SPDL_ROWS_AHEAD rows beyond those that are done.
 * @rows_done reports that all rows before @y_end are written. If pixels are not
 * colors, any row may be requested at any time. */
typedef struct {
  guint8 *(*get_row) (gpointer user_data, guint y);
  void (*rows_done) (gpointer user_data, guint y_end);
  gpointer user_data;

  guint width;
  guint height;
  /* Needed range of pixels. Others need not be written. */
  guint x_begin, x_end;
  guint y_begin, y_end;
  SpdlPixels pixels;
  guint pixel_size; /* for colors 3, or 4 with an unused byte after each pixel;
                       else 1 or 2 */
  gboolean bgr;     /* blue comes first */
  guint32 background; /* 0xRRGGBB or a sample, for missing and transparent
                         pixels */
} SpdlRows;

#define SPDL_ROWS_AHEAD 32

static inline void
spdl_rows_put_pixel (const SpdlRows *self, guint8 *at, guint32 rgb)
{
  const guint16 sample = rgb;

  if (self->pixels != SPDL_PIXELS_COLOR) {
    if (self->pixels == SPDL_PIXELS_INDEX)
      *at = rgb;
    else
      memcpy (at, &sample, sizeof sample);
    return;
  }
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

/* Returns a * b / 255, rounded exactly, for @a and @b up to 255. */
static inline guint
spdl_rows_scale (guint a, guint b)
{
  const guint product = a * b + 128;

  return (product + (product >> 8)) >> 8;
}

typedef enum {
  SPDL_ALPHA_NONE,          /* the fourth byte is unused */
  SPDL_ALPHA_STRAIGHT,      /* colors are not multiplied by alpha */
  SPDL_ALPHA_PREMULTIPLIED, /* colors are multiplied by alpha */
} SpdlAlpha;

/* Writes @n RGBA pixels to @to, which may be @rgba if rows have four bytes per
 * pixel. Transparent pixels are blended over the background. */
void spdl_rows_put_rgba (const SpdlRows *self, guint8 *to, const guint8 *rgba,
    guint n, SpdlAlpha alpha);

/* Returns the number of channels, 3 (RGB) or 4 (RGBA), in which a library that
 * decodes whole images decodes one for spdl_rows_put_image(). */
static inline guint
spdl_rows_count_channels (const SpdlRows *self, gboolean has_alpha)
{
  return has_alpha || self->bgr || self->pixel_size == 4 ? 4 : 3;
}

/* Writes the needed rows of an image that was decoded as a whole.
 * @pixels: RGBA, or pixels that need no conversion
 * @pixel_size: 4, or that of the rows */
void spdl_rows_put_image (const SpdlRows *self, const guint8 *pixels,
    gsize stride, guint pixel_size, SpdlAlpha alpha);

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
