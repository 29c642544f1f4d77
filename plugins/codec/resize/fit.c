/* gst-spdl: crop and placement of an image in the result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/fit.h"

#include <math.h>

#include "gst/spdl/engine/random.h"

/* Random crops and flips */

#define MAX_TRIES 10

static void
draw_place (SpdlRandom *random, guint width, guint height, SpdlRectangle *box)
{
  box->y = spdl_random_below (random, height - box->height + 1);
  box->x = spdl_random_below (random, width - box->width + 1);
}

static void
put_in_the_middle (guint width, guint height, SpdlRectangle *box)
{
  box->x = (width - box->width) / 2;
  box->y = (height - box->height) / 2;
}

/* Rounds a side and clamps it to 1 to @most pixels. */
static guint
scale_side (double length, guint most)
{
  return CLAMP (rint (length), 1.0, (double) most);
}

/* Selects the largest centered crop with an allowed aspect ratio. */
static void
fall_back (const double *ratio, guint width, guint height, SpdlRectangle *box)
{
  const double own = (double) width / height;

  box->width = width;
  box->height = height;
  if (own < ratio[0])
    box->height = scale_side (width / ratio[0], height);
  else if (own > ratio[1])
    box->width = scale_side (height * ratio[1], width);
  put_in_the_middle (width, height, box);
}

static void
draw_resized_crop (const SpdlAugment *self, SpdlRandom *random, guint width,
    guint height, SpdlRectangle *box)
{
  double sides[2];

  for (guint i = 0; i < MAX_TRIES; i++) {
    spdl_random_sides (
        random, (double) width * height, self->scale, self->ratio, sides);
    if (sides[0] < 1.0 || sides[0] > width || sides[1] < 1.0 ||
        sides[1] > height)
      continue;
    box->width = sides[0];
    box->height = sides[1];
    draw_place (random, width, height, box);
    return;
  }
  fall_back (self->ratio, width, height, box);
}

static void
draw_crop (SpdlRandom *random, guint width, guint height, guint out_width,
    guint out_height, SpdlRectangle *box)
{
  const double fit =
      MIN (1.0, MIN ((double) width / out_width, (double) height / out_height));

  box->width = scale_side (out_width * fit, width);
  box->height = scale_side (out_height * fit, height);
  draw_place (random, width, height, box);
}

void
spdl_augment_draw (const SpdlAugment *self, guint64 epoch, guint64 index,
    guint width, guint height, guint out_width, guint out_height,
    SpdlRectangle *box, gboolean *flip)
{
  const guint64 key[] = { self->seed, epoch, index, SPDL_AUGMENT_KEY };
  SpdlRandom random;

  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  *box = (SpdlRectangle){ 0, 0, width, height };
  if (self->kind == SPDL_AUGMENT_RANDOM_RESIZED_CROP)
    draw_resized_crop (self, &random, width, height, box);
  else if (self->kind == SPDL_AUGMENT_RANDOM_CROP)
    draw_crop (&random, width, height, out_width, out_height, box);
  *flip = spdl_random_double (&random) < self->flip;
}

/* Scales @length by @to / @from. */
static guint
in_proportion (guint length, guint from, guint to)
{
  return MAX (rint ((double) length * to / from), 1.0);
}

static void
resolve_size (SpdlFit *self, SpdlFitMode mode, guint width, guint height)
{
  const SpdlRectangle *box = &self->box;
  const gboolean own = mode == SPDL_FIT_NONE || (width == 0 && height == 0);
  const gboolean proportional =
      mode == SPDL_FIT_COVER || mode == SPDL_FIT_CONTAIN;

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

/* Computes COVER like torchvision's Resize of the shorter side, which rounds
 * the longer side down, followed by CenterCrop. */
static void
fit_around (SpdlFit *self)
{
  const SpdlRectangle *box = &self->box;
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

/* Computes CONTAIN like Pillow's ImageOps.pad(). */
static void
fit_inside (SpdlFit *self)
{
  const SpdlRectangle *box = &self->box;
  SpdlRectangle *place = &self->place;
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
spdl_fit_init (SpdlFit *self, SpdlFitMode mode, const SpdlRectangle *box,
    guint width, guint height)
{
  self->box = *box;
  resolve_size (self, mode, width, height);
  self->full_width = self->width;
  self->full_height = self->height;
  self->skip_x = self->skip_y = 0;
  self->place = (SpdlRectangle){ 0, 0, self->width, self->height };
  if (mode == SPDL_FIT_COVER)
    fit_around (self);
  else if (mode == SPDL_FIT_CONTAIN)
    fit_inside (self);
}

void
spdl_fit_init_center (SpdlFit *self, const SpdlRectangle *box, guint width,
    guint height, double fraction)
{
  /* 0, an unspecified side, stays 0. */
  spdl_fit_init (self, SPDL_FIT_COVER, box, rint (width / fraction),
      rint (height / fraction));
  self->width = width ? width : MAX (rint (self->width * fraction), 1.0);
  self->height = height ? height : MAX (rint (self->height * fraction), 1.0);
  self->skip_x = rint ((self->full_width - self->width) / 2.0);
  self->skip_y = rint ((self->full_height - self->height) / 2.0);
  self->place = (SpdlRectangle){ 0, 0, self->width, self->height };
}
