/* gst-spdl: input for the resizer, as from a decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/feed.h"

#include <string.h>

gboolean
feed (SpdlResize *resize, const SpdlResizeJob *job, const guint8 *image,
    GRand *rand)
{
  const guint n_columns = job->half_x ? (job->width + 1) / 2 : job->width;
  const gsize row_size = (gsize) n_columns * job->pixel_size;
  SpdlResizeSource source;
  gsize at, n;

  if (!spdl_resize_begin (resize, job))
    return FALSE;
  source = spdl_resize_get_source (resize);
  at = (gsize) source.x_begin * job->pixel_size;
  n = (gsize) source.x_end * job->pixel_size - at;
  for (guint y = source.y_begin; y < source.y_end;) {
    const guint n_rows = rand ? g_rand_int_range (rand, 1, 33) : 8;
    const guint end = MIN (y + n_rows, source.y_end);

    for (; y < end; y++) {
      guint8 *row = spdl_resize_get_row (resize, y);

      if (rand)
        memset (row, g_rand_int (rand) & 255, row_size);
      memcpy (row + at, image + y * row_size + at, n);
    }
    spdl_resize_rows_done (resize, end);
  }
  return TRUE;
}
