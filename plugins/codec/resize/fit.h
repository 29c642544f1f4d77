/* gst-spdl: crop and placement of an image in the result
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What is drawn for an item depends on (seed, epoch, index) and the image's
 * size alone: not on threads, nor on the order of items. The numbers come from
 * xoshiro256**, keyed by splitmix64 of seed, epoch, index and SPDL_AUGMENT_KEY,
 * in this order: for random-resized-crop, ten times at most, the area and the
 * ratio, until a box fits; then its row and its column; last, in any case, the
 * flip. A number in [0, 1) is the upper 53 bits of one that is drawn; one below
 * a bound is Lemire's, from the upper 32. */

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
  double scale[2]; /* of the area, least and most */
  double ratio[2]; /* of width to height */
  double flip;     /* probability */
  guint64 seed;
} SpdlAugment;

/* Whether anything is random. */
static inline gboolean
spdl_augment_is_on (const SpdlAugment *self)
{
  return self->kind != SPDL_AUGMENT_NONE || self->flip > 0.0;
}

/* Draws for the item of @epoch and @index, an image of @width by @height that
 * is to become @out_width by @out_height: the @box of it that is used, all of
 * it where none is asked for, and whether the result is mirrored.
 *
 * random-resized-crop is torchvision's: a box of a share of the area and of a
 * ratio (uniform in its logarithm) at a random place; if ten do not fit, the
 * largest in the middle whose ratio is allowed. random-crop takes as many
 * pixels as are to come out, at a random place; of an image that is too small,
 * the largest box of that shape. */
void spdl_augment_draw (const SpdlAugment *self, guint64 epoch, guint64 index,
    guint width, guint height, guint out_width, guint out_height,
    SpdlRectangle *box, gboolean *flip);

/* How an image is brought into its frame, the result. Sizes are upright. */

typedef enum {
  SPDL_FIT_STRETCH, /* to fill it, whatever its shape */
  SPDL_FIT_COVER,   /* its shape stays, what is beyond the frame is cut off */
  SPDL_FIT_CONTAIN, /* its shape stays, what is left of the frame is filled
                     */
  SPDL_FIT_NONE,    /* as it is */
} SpdlFitMode;

/* The image's `box`, nothing outside of which is looked at, is scaled to `full`
 * pixels, of which those from `skip` on are drawn at `place` in a result of
 * `width` by `height`. */
typedef struct {
  guint width, height;
  SpdlRectangle box;
  guint full_width, full_height;
  guint skip_x, skip_y;
  SpdlRectangle place;
} SpdlFit;

/* @box: of the image. @width, @height: of the result; 0: with STRETCH the box's
 * own; with COVER and CONTAIN in proportion,
 * where the other is given. */
void spdl_fit_init (SpdlFit *self, SpdlFitMode mode, const SpdlRectangle *box,
    guint width, guint height);

/* As COVER for a frame whose sides are larger, by 1 / @fraction, of which the
 * middle is kept: torchvision's Resize(256) and CenterCrop(224) for 0.875. */
void spdl_fit_init_center (SpdlFit *self, const SpdlRectangle *box, guint width,
    guint height, double fraction);

/* Whether the result has more than what is drawn. */
static inline gboolean
spdl_fit_has_border (const SpdlFit *self)
{
  return self->place.width < self->width || self->place.height < self->height;
}

G_END_DECLS
