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

/* Alignment with the main image of a sample */

/* Returns whether sides of a and b pixels can be sides of c and d pixels that
 * were scaled by one factor and rounded up or down. */
static gboolean
is_scaled (gdouble a, gdouble b, gdouble c, gdouble d)
{
  return MAX ((a - 1) / c, (b - 1) / d) < MIN ((a + 1) / c, (b + 1) / d);
}

gboolean
spdl_sizes_agree (
    guint width, guint height, guint other_width, guint other_height)
{
  return is_scaled (width, height, other_width, other_height) ||
         is_scaled (other_width, other_height, width, height);
}

static gboolean
set_unlike (const SpdlImageTransform *self, const SpdlMainImage *main,
    const gchar *which, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Image of %u by %u (EXIF orientation %u) cannot be aligned with the part "
      "\"%s\" of %u by %u (EXIF orientation %u), because their %s differ: make "
      "the files alike, set orientation=ignore for both, or set another seed "
      "if the parts do not belong together",
      self->width, self->height, self->exif_orientation, main->part,
      main->width, main->height, main->orientation, which);
  return FALSE;
}

/* Decides the orientation. An image that is not turned by its own EXIF data is
 * turned like the main image, unless its size shows that it is upright. */
static gboolean
choose_orientation (SpdlImageTransform *self, const SpdlDecodeConfig *config,
    const SpdlMainImage *main, GError **error)
{
  gboolean is_alike, is_upright;

  self->is_guess = FALSE;
  self->turned =
      config->orientation == SPDL_EXIF_IGNORE ? 1 : self->exif_orientation;
  if (!main || main->orientation == 1 || self->turned != 1 ||
      config->orientation == SPDL_EXIF_IGNORE)
    return TRUE;
  is_alike =
      spdl_sizes_agree (self->width, self->height, main->width, main->height);
  is_upright = spdl_orientation_swaps_sides (main->orientation)
                   ? spdl_sizes_agree (
                         self->width, self->height, main->height, main->width)
                   : is_alike;
  if (!is_alike && !is_upright)
    return set_unlike (self, main, "stored sizes", error);
  if (is_alike)
    self->turned = main->orientation;
  self->is_guess = is_alike && is_upright;
  return TRUE;
}

/* Returns the units per pixel in which positions in an image of @from pixels
 * have exact places in one of @to pixels, as far as they fit in 31 bits. */
static guint
choose_unit (guint from, guint to)
{
  guint a = from, b = to;

  while (b > 0) {
    const guint rest = a % b;

    a = b;
    b = rest;
  }
  return MAX (MIN (from / a, G_MAXINT32 / to), 1);
}

/* Returns @at of @from pixels as a place of @to pixels, in 1 / @unit pixels. */
static guint
scale_place (guint at, guint from, guint to, guint unit)
{
  return ((guint64) at * to * unit + from / 2) / from;
}

static void
scale_span (guint *at, guint *length, guint from, guint to, guint unit)
{
  const guint end = scale_place (*at + *length, from, to, unit);

  *at = MIN (scale_place (*at, from, to, unit), end - MIN (end, 1));
  *length = MAX (end, 1) - *at;
}

/* Scales a box of an image of @width by @height to one of @to_width by
 * @to_height. */
static SpdlRectangle
scale_box (SpdlRectangle box, guint width, guint height, guint to_width,
    guint to_height, guint unit_x, guint unit_y)
{
  scale_span (&box.x, &box.width, width, to_width, unit_x);
  scale_span (&box.y, &box.height, height, to_height, unit_y);
  return box;
}

/* Returns the upright size. */
static void
get_upright (
    guint orientation, guint width, guint height, guint *wide, guint *high)
{
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);

  *wide = swaps ? height : width;
  *high = swaps ? width : height;
}

/* Draws the crop and the flip in an image of @width by @height, or takes those
 * of the main image, which has this size. */
static void
draw (SpdlImageTransform *self, const SpdlDecodeConfig *config,
    const SpdlSource *source, guint width, guint height, gboolean is_main)
{
  const SpdlMainImage *main = source->main_image;

  self->box = (SpdlRectangle){ 0, 0, width, height };
  self->flip = FALSE;
  if (is_main && main->was_decoded) {
    self->box = main->box;
    self->flip = main->flip;
  } else if (spdl_augment_is_on (&config->augment)) {
    spdl_augment_draw (&config->augment, source->epoch, source->index, width,
        height, config->width ? config->width : width,
        config->height ? config->height : height, &self->box, &self->flip);
  }
}

static void
fit_box (SpdlFit *fit, const SpdlDecodeConfig *config, const SpdlRectangle *box)
{
  if (config->resize == SPDL_FIT_COVER && config->crop_fraction < 1)
    spdl_fit_init_center (
        fit, box, config->width, config->height, config->crop_fraction);
  else
    spdl_fit_init (fit, config->resize, box, config->width, config->height);
}

/* Takes the crop of the main image, which has another size. Rounds nothing, so
 * that both show the same. */
static void
fit_main_box (SpdlImageTransform *self, const SpdlDecodeConfig *config,
    guint main_wide, guint main_high, guint wide, guint high)
{
  const gboolean keeps_aspect =
      config->resize == SPDL_FIT_COVER || config->resize == SPDL_FIT_CONTAIN;
  const SpdlRectangle own =
      scale_box (self->box, main_wide, main_high, wide, high, 1, 1);

  /* A side that is not set is the image's own. */
  fit_box (&self->fit, config,
      keeps_aspect && (config->width || config->height) ? &self->box : &own);
  self->unit_x = choose_unit (main_wide, wide);
  self->unit_y = choose_unit (main_high, high);
  self->fit.box = scale_box (
      self->box, main_wide, main_high, wide, high, self->unit_x, self->unit_y);
  self->box = own;
}

gboolean
spdl_image_transform_init (SpdlImageTransform *self,
    const SpdlDecodeConfig *config, const SpdlSource *source, guint width,
    guint height, guint orientation, GError **error)
{
  const SpdlMainImage *main = source->main_image;
  const gboolean follows = main && spdl_augment_is_on (&config->augment) &&
                           (main->is_drawn || !main->was_decoded);
  guint wide, high;

  self->width = width;
  self->height = height;
  self->exif_orientation = orientation;
  self->unit_x = self->unit_y = 1;
  if (!choose_orientation (self, config, main, error))
    return FALSE;
  get_upright (self->turned, width, height, &wide, &high);
  if (follows) {
    /* The main image is decoded later: assume the same setting for it, if the
     * sizes allow that. */
    const gboolean ignores =
        config->orientation == SPDL_EXIF_IGNORE && !main->was_decoded &&
        spdl_sizes_agree (width, height, main->width, main->height);
    guint main_wide, main_high;

    get_upright (ignores ? 1 : main->orientation, main->width, main->height,
        &main_wide, &main_high);
    if (!spdl_sizes_agree (wide, high, main_wide, main_high))
      return set_unlike (self, main, "aspect ratios", error);
    draw (self, config, source, main_wide, main_high, TRUE);
    fit_main_box (self, config, main_wide, main_high, wide, high);
  } else {
    draw (self, config, source, wide, high, FALSE);
    fit_box (&self->fit, config, &self->box);
  }
  /* The frame is mirrored with its content, and so is the place. */
  if (spdl_orientation_swaps_sides (self->turned))
    swap_sizes (&self->unit_x, &self->unit_y);
  turn_back (
      &self->fit, self->turned, width * self->unit_x, height * self->unit_y);
  self->orientation = self->flip ? get_mirrored (self->turned) : self->turned;
  return TRUE;
}

guint
spdl_image_transform_get_reduction (const SpdlImageTransform *self)
{
  const SpdlFit *f = &self->fit;
  guint by = 8;

  while (by > 1 && (f->box.width / (by * self->unit_x) < f->full_width ||
                       f->box.height / (by * self->unit_y) < f->full_height))
    by /= 2;
  return by;
}

gboolean
spdl_image_transform_is_plain (const SpdlImageTransform *self)
{
  const SpdlFit *f = &self->fit;

  return f->box.width == self->width * self->unit_x &&
         f->box.height == self->height * self->unit_y &&
         f->full_width == self->width && f->full_height == self->height &&
         f->width == self->width && f->height == self->height;
}
