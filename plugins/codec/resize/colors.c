/* gst-spdl: color matrices of video
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/colors.h"

#include <math.h>

#define ONE (1 << SPDL_COLORS_BITS)

void
spdl_colors_init (SpdlColors *self, double kr, double kb, gboolean full)
{
  const double y_range = full ? 255.0 : 219.0;
  const double c_range = full ? 255.0 : 224.0;
  const double kg = 1.0 - kr - kb;

  self->y = rint (255.0 / y_range * ONE);
  self->y_offset = full ? 0 : 16;
  self->red_cr = rint (255.0 / c_range * 2.0 * (1.0 - kr) * ONE);
  self->blue_cb = rint (255.0 / c_range * 2.0 * (1.0 - kb) * ONE);
  self->green_cr = rint (-255.0 / c_range * 2.0 * (1.0 - kr) * kr / kg * ONE);
  self->green_cb = rint (-255.0 / c_range * 2.0 * (1.0 - kb) * kb / kg * ONE);
}

void
spdl_colors_join (const SpdlColors *self, guint8 *out,
    const guint8 *const planes[3], guint n, gboolean bgr)
{
  const guint red = bgr ? 2 : 0;
  const SpdlColors c = *self;

  for (guint i = 0; i < n; i++, out += 3) {
    const gint y = (planes[0][i] - c.y_offset) * c.y + ONE / 2;
    const gint cb = planes[1][i] - 128, cr = planes[2][i] - 128;
    const gint r = (y + cr * c.red_cr) >> SPDL_COLORS_BITS;
    const gint g = (y + cb * c.green_cb + cr * c.green_cr) >> SPDL_COLORS_BITS;
    const gint b = (y + cb * c.blue_cb) >> SPDL_COLORS_BITS;

    out[red] = CLAMP (r, 0, 255);
    out[1] = CLAMP (g, 0, 255);
    out[2 - red] = CLAMP (b, 0, 255);
  }
}
