/* gst-spdl: crop, resize and orientation of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/imagetransform.h"

#include "plugins/codec/resize/orientation.h"

/* Returns the orientation combined with a horizontal flip of the upright
 * image. */
static guint
get_mirrored (guint orientation)
{
  static const guint others[] = { 2, 1, 4, 3, 6, 5, 8, 7 };

  return others[orientation - 1];
}

static void
swap_sizes (guint *a, guint *b)
{
  const guint c = *a;

  *a = *b;
  *b = c;
}

static void
swap_box (SpdlRectangle *box)
{
  swap_sizes (&box->x, &box->y);
  swap_sizes (&box->width, &box->height);
}

/* Transforms @self from upright coordinates to those of the stored image, which
 * is @width by @height. */
static void
turn_back (SpdlFit *self, guint orientation, guint width, guint height)
{
  if (spdl_orientation_swaps_sides (orientation)) {
    swap_box (&self->box);
    swap_box (&self->place);
    swap_sizes (&self->width, &self->height);
    swap_sizes (&self->full_width, &self->full_height);
    swap_sizes (&self->skip_x, &self->skip_y);
  }
  if (spdl_orientation_mirrors_x (orientation)) {
    self->box.x = width - self->box.x - self->box.width;
    self->skip_x = self->full_width - self->skip_x - self->place.width;
    self->place.x = self->width - self->place.x - self->place.width;
  }
  if (spdl_orientation_mirrors_y (orientation)) {
    self->box.y = height - self->box.y - self->box.height;
    self->skip_y = self->full_height - self->skip_y - self->place.height;
    self->place.y = self->height - self->place.y - self->place.height;
  }
}

void
spdl_image_transform_init (SpdlImageTransform *self,
    const SpdlDecodeConfig *config, guint width, guint height,
    guint orientation, guint64 epoch, guint64 index)
{
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);
  const guint upright_width = swaps ? height : width;
  const guint upright_height = swaps ? width : height;

  self->width = width;
  self->height = height;
  self->orientation = orientation;
  self->box = (SpdlRectangle){ 0, 0, upright_width, upright_height };
  self->flip = FALSE;
  if (spdl_augment_is_on (&config->augment))
    spdl_augment_draw (&config->augment, epoch, index, upright_width,
        upright_height, config->width ? config->width : upright_width,
        config->height ? config->height : upright_height, &self->box,
        &self->flip);
  if (config->resize == SPDL_FIT_COVER && config->crop_fraction < 1)
    spdl_fit_init_center (&self->fit, &self->box, config->width, config->height,
        config->crop_fraction);
  else
    spdl_fit_init (
        &self->fit, config->resize, &self->box, config->width, config->height);
  /* The frame is mirrored with its content, and so is the place. */
  turn_back (&self->fit, orientation, width, height);
  if (self->flip)
    self->orientation = get_mirrored (orientation);
}

guint
spdl_image_transform_get_reduction (const SpdlImageTransform *self)
{
  const SpdlFit *f = &self->fit;
  guint by = 8;

  while (by > 1 && (f->box.width / by < f->full_width ||
                       f->box.height / by < f->full_height))
    by /= 2;
  return by;
}

gboolean
spdl_image_transform_is_plain (const SpdlImageTransform *self)
{
  const SpdlFit *f = &self->fit;

  return f->box.width == self->width && f->box.height == self->height &&
         f->full_width == self->width && f->full_height == self->height &&
         f->width == self->width && f->height == self->height;
}
