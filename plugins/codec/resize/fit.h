/* gst-spdl: crop and placement of an image in the result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Random values depend only on (seed, epoch, index) and the image size, not on
 * threads or the order of items. They come from xoshiro256**, seeded by
 * splitmix64 from seed, epoch, index and SPDL_AUGMENT_KEY, in this order: for
 * random-resized-crop, area and aspect ratio, up to ten times until the crop
 * fits, then its row and its column; last, in all cases, the flip. A number in
 * [0, 1) is formed from the upper 53 bits. An integer below a bound is drawn
 * with Lemire's method from the upper 32 bits. */

#define SPDL_AUGMENT_KEY G_GUINT64_CONSTANT (0x61756d656e740001)

typedef enum {
  SPDL_AUGMENT_NONE,
  SPDL_AUGMENT_RANDOM_RESIZED_CROP,
  SPDL_AUGMENT_RANDOM_CROP,
} SpdlAugmentKind;

typedef struct {
  guint x, y;
  guint width, height;
} SpdlRectangle;

typedef struct {
  SpdlAugmentKind kind;
  double scale[2]; /* range of the area, as a fraction */
  double ratio[2]; /* range of width / height */
  double flip;     /* probability */
  guint64 seed;
} SpdlAugment;

/* Returns whether there are random transforms. */
static inline gboolean
spdl_augment_is_on (const SpdlAugment *self)
{
  return self->kind != SPDL_AUGMENT_NONE || self->flip > 0.0;
}

/* Draws crop and flip for the item with @epoch and @index. The image has @width
 * by @height pixels, and the result @out_width by @out_height. @box is the
 * whole image if there is no random crop.
 *
 * random-resized-crop is that of torchvision: a crop with a random fraction of
 * the area, a random aspect ratio (log-uniform), and a random position. If ten
 * attempts do not fit, the largest centered crop with an allowed ratio is used.
 * random-crop has the size of the result and a random position. If the image is
 * too small, it is the largest crop with that aspect ratio. */
void spdl_augment_draw (const SpdlAugment *self, guint64 epoch, guint64 index,
    guint width, guint height, guint out_width, guint out_height,
    SpdlRectangle *box, gboolean *flip);

/* Modes of fitting an image into the result. Sizes are those of the upright
 * image. */

typedef enum {
  SPDL_FIT_STRETCH, /* scale both sides independently */
  SPDL_FIT_COVER,   /* keep the aspect ratio and crop */
  SPDL_FIT_CONTAIN, /* keep the aspect ratio and add a border */
  SPDL_FIT_NONE,    /* keep the size */
} SpdlFitMode;

/* The crop `box` of the image is scaled to `full` pixels. The part from `skip`
 * on is drawn at `place` in a result of `width` by `height`. Pixels outside of
 * `box` are not used. */
typedef struct {
  guint width, height;
  SpdlRectangle box;
  guint full_width, full_height;
  guint skip_x, skip_y;
  SpdlRectangle place;
} SpdlFit;

/* @box: crop of the image
 * @width, @height: of the result; 0: with STRETCH the side of the box; with
 * COVER and CONTAIN in proportion to the other side */
void spdl_fit_init (SpdlFit *self, SpdlFitMode mode, const SpdlRectangle *box,
    guint width, guint height);

/* Fits like COVER into a frame whose sides are larger by 1 / @fraction, and
 * keeps its center. With 0.875 this is torchvision's Resize(256) and
 * CenterCrop(224). */
void spdl_fit_init_center (SpdlFit *self, const SpdlRectangle *box, guint width,
    guint height, double fraction);

/* Returns whether the result has a border around the image. */
static inline gboolean
spdl_fit_has_border (const SpdlFit *self)
{
  return self->place.width < self->width || self->place.height < self->height;
}

G_END_DECLS
