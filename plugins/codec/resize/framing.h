/* gst-spdl: which part of an image goes where
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/augment.h"

G_BEGIN_DECLS

/* How an image is brought into its frame, the result. Sizes are upright. */

typedef enum {
  SPDL_FRAMING_STRETCH, /* to fill it, whatever its shape */
  SPDL_FRAMING_COVER, /* its shape stays, what is beyond the frame is cut off */
  SPDL_FRAMING_CONTAIN, /* its shape stays, what is left of the frame is filled
                         */
  SPDL_FRAMING_NONE,    /* as it is */
} SpdlFramingMode;

/* The image's `box`, nothing outside of which is looked at, is scaled to `full`
 * pixels, of which those from `skip` on are drawn at `place` in a result of
 * `width` by `height`. */
typedef struct {
  guint width, height;
  SpdlBox box;
  guint full_width, full_height;
  guint skip_x, skip_y;
  SpdlBox place;
} SpdlFraming;

/* @box: of the image. @width, @height: of the result; 0: with STRETCH the box's
 * own; with COVER and CONTAIN in proportion,
 * where the other is given. */
void spdl_framing_init (SpdlFraming *self, SpdlFramingMode mode,
    const SpdlBox *box, guint width, guint height);

/* Whether the result has more than what is drawn. */
static inline gboolean
spdl_framing_has_border (const SpdlFraming *self)
{
  return self->place.width < self->width || self->place.height < self->height;
}

G_END_DECLS
