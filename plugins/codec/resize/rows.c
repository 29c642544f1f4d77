/* gst-spdl: destination of the rows of a decoded image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/rows.h"

static void
put_opaque (const SpdlRows *self, guint8 *to, const guint8 *rgba, guint n)
{
  const guint red = self->bgr ? 2 : 0;

  for (guint i = 0; i < n; i++) {
    const guint8 r = rgba[0], g = rgba[1], b = rgba[2];

    to[red] = r;
    to[1] = g;
    to[2 - red] = b;
    rgba += 4;
    to += self->pixel_size;
  }
}

void
spdl_rows_put_rgba (const SpdlRows *self, guint8 *to, const guint8 *rgba,
    guint n, SpdlAlpha alpha)
{
  const guint8 below[] = { self->background >> 16, self->background >> 8,
    self->background };
  const guint red = self->bgr ? 2 : 0;

  if (alpha == SPDL_ALPHA_NONE) {
    put_opaque (self, to, rgba, n);
    return;
  }
  for (guint i = 0; i < n; i++) {
    const guint a = rgba[3];
    guint8 color[3];

    for (guint c = 0; c < 3; c++) {
      const guint above =
          alpha == SPDL_ALPHA_STRAIGHT ? spdl_rows_scale (rgba[c], a) : rgba[c];

      color[c] = MIN (above + spdl_rows_scale (below[c], 255 - a), 255);
    }
    to[red] = color[0];
    to[1] = color[1];
    to[2 - red] = color[2];
    rgba += 4;
    to += self->pixel_size;
  }
}

void
spdl_rows_put_image (const SpdlRows *self, const guint8 *pixels, gsize stride,
    guint pixel_size, SpdlAlpha alpha)
{
  for (guint y = self->y_begin; y < self->y_end; y++) {
    const guint8 *row = pixels + y * stride;
    guint8 *to = self->get_row (self->user_data, y);

    if (pixel_size == 4)
      spdl_rows_put_rgba (self, to, row, self->width, alpha);
    else
      memcpy (to, row, self->width * (gsize) pixel_size);
    self->rows_done (self->user_data, y + 1);
  }
}
