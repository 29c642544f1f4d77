/* gst-spdl: which part of an image goes where
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/framing.h"

#include <math.h>

/* In proportion: what @length becomes when @from becomes @to. */
static guint
in_proportion (guint length, guint from, guint to)
{
  return MAX (rint ((double) length * to / from), 1.0);
}

static void
resolve_size (
    SpdlFraming *self, SpdlFramingMode mode, guint width, guint height)
{
  const SpdlBox *box = &self->box;
  const gboolean own = mode == SPDL_FRAMING_NONE || (width == 0 && height == 0);
  const gboolean proportional =
      mode == SPDL_FRAMING_COVER || mode == SPDL_FRAMING_CONTAIN;

  if (own) {
    width = box->width;
    height = box->height;
  } else if (width == 0) {
    width = proportional ? in_proportion (box->width, box->height, height)
                         : box->width;
  } else if (height == 0) {
    height = proportional ? in_proportion (box->height, box->width, width)
                          : box->height;
  }
  self->width = width;
  self->height = height;
}

/* The shorter side, as torchvision's Resize does it: the longer one is cut down
 * to a whole number; and the middle, as its CenterCrop does. */
static void
cover (SpdlFraming *self)
{
  const SpdlBox *box = &self->box;
  const guint64 by_width = (guint64) box->height * self->width;
  const guint64 by_height = (guint64) box->width * self->height;

  if (by_width >= by_height) {
    self->full_width = self->width;
    self->full_height =
        CLAMP (by_width / box->width, self->height, (guint64) G_MAXINT);
  } else {
    self->full_height = self->height;
    self->full_width =
        CLAMP (by_height / box->height, self->width, (guint64) G_MAXINT);
  }
  self->skip_x = rint ((self->full_width - self->width) / 2.0);
  self->skip_y = rint ((self->full_height - self->height) / 2.0);
}

/* As Pillow's ImageOps.pad() does it. */
static void
contain (SpdlFraming *self)
{
  const SpdlBox *box = &self->box;
  SpdlBox *place = &self->place;
  const guint64 by_width = (guint64) box->height * self->width;
  const guint64 by_height = (guint64) box->width * self->height;

  if (by_width > by_height)
    place->width = MIN (
        in_proportion (box->width, box->height, self->height), self->width);
  else
    place->height = MIN (
        in_proportion (box->height, box->width, self->width), self->height);
  place->x = rint ((self->width - place->width) * 0.5);
  place->y = rint ((self->height - place->height) * 0.5);
  self->full_width = place->width;
  self->full_height = place->height;
}

void
spdl_framing_init (SpdlFraming *self, SpdlFramingMode mode, const SpdlBox *box,
    guint width, guint height)
{
  self->box = *box;
  resolve_size (self, mode, width, height);
  self->full_width = self->width;
  self->full_height = self->height;
  self->skip_x = self->skip_y = 0;
  self->place = (SpdlBox){ 0, 0, self->width, self->height };
  if (mode == SPDL_FRAMING_COVER)
    cover (self);
  else if (mode == SPDL_FRAMING_CONTAIN)
    contain (self);
}
