/* gst-spdl: rotation and mirroring of images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/orientation.h"

#include <string.h>

/* Side of a tile in pixels. When rows and columns are swapped, the source and
 * the destination of a tile both stay in the cache. */
#define SQUARE 32

typedef struct {
  const guint8 *in; /* source of the first output pixel */
  gssize step_x;    /* from an output pixel to its right neighbor */
  gssize step_y;    /* from an output pixel to the one below */
  guint8 *out;
  gsize stride;
} Turn;

static inline void
copy_square (const Turn *turn, const guint pixel_size, guint x0, guint y0,
    guint x1, guint y1)
{
  for (guint y = y0; y < y1; y++) {
    const guint8 *in =
        turn->in + (gssize) y * turn->step_y + (gssize) x0 * turn->step_x;
    guint8 *out = turn->out + y * turn->stride + pixel_size * (gsize) x0;

    for (guint x = x0; x < x1; x++) {
      memcpy (out, in, pixel_size);
      out += pixel_size;
      in += turn->step_x;
    }
  }
}

void
spdl_orientation_apply (guint orientation, guint pixel_size, const guint8 *in,
    guint width, guint height, gsize in_stride, guint8 *out, gsize out_stride)
{
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);
  const gboolean from_right = spdl_orientation_mirrors_x (orientation);
  const gboolean from_bottom = spdl_orientation_mirrors_y (orientation);
  const gssize pixel = pixel_size;
  const gssize along = from_right ? -pixel : pixel;
  const gssize down = from_bottom ? -(gssize) in_stride : (gssize) in_stride;
  const guint out_width = swaps ? height : width;
  const guint out_height = swaps ? width : height;
  const Turn turn = { in + (from_right ? pixel * (gsize) (width - 1) : 0) +
                          (from_bottom ? in_stride * (height - 1) : 0),
    swaps ? down : along, swaps ? along : down, out, out_stride };

  for (guint y = 0; y < out_height; y += SQUARE)
    for (guint x = 0; x < out_width; x += SQUARE) {
      const guint x_end = MIN (x + SQUARE, out_width);
      const guint y_end = MIN (y + SQUARE, out_height);

      /* The pixel size is a constant here, so that the compiler replaces
       * memcpy(). */
      if (pixel_size == 1)
        copy_square (&turn, 1, x, y, x_end, y_end);
      else
        copy_square (&turn, 3, x, y, x_end, y_end);
    }
}
