/* gst-spdl: random crops and flips
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/augment.h"

#include <math.h>

#include "gst/spdl/engine/random.h"

#define MAX_TRIES 10

static double
draw_between (SpdlRandom *random, double least, double most)
{
  return least + (most - least) * spdl_random_double (random);
}

static void
draw_place (SpdlRandom *random, guint width, guint height, SpdlBox *box)
{
  box->y = spdl_random_below (random, height - box->height + 1);
  box->x = spdl_random_below (random, width - box->width + 1);
}

static void
put_in_the_middle (guint width, guint height, SpdlBox *box)
{
  box->x = (width - box->width) / 2;
  box->y = (height - box->height) / 2;
}

/* A side, at least a pixel, at most @most. */
static guint
side (double length, guint most)
{
  return CLAMP (rint (length), 1.0, (double) most);
}

/* The largest box whose ratio is allowed. */
static void
fall_back (const double *ratio, guint width, guint height, SpdlBox *box)
{
  const double own = (double) width / height;

  box->width = width;
  box->height = height;
  if (own < ratio[0])
    box->height = side (width / ratio[0], height);
  else if (own > ratio[1])
    box->width = side (height * ratio[1], width);
  put_in_the_middle (width, height, box);
}

static void
draw_resized_crop (const SpdlAugment *self, SpdlRandom *random, guint width,
    guint height, SpdlBox *box)
{
  const double area = (double) width * height;
  const double least = log (self->ratio[0]), most = log (self->ratio[1]);

  for (guint i = 0; i < MAX_TRIES; i++) {
    const double target =
        area * draw_between (random, self->scale[0], self->scale[1]);
    const double ratio = exp (draw_between (random, least, most));
    const double w = rint (sqrt (target * ratio));
    const double h = rint (sqrt (target / ratio));

    if (w < 1.0 || w > width || h < 1.0 || h > height)
      continue;
    box->width = w;
    box->height = h;
    draw_place (random, width, height, box);
    return;
  }
  fall_back (self->ratio, width, height, box);
}

static void
draw_crop (SpdlRandom *random, guint width, guint height, guint out_width,
    guint out_height, SpdlBox *box)
{
  const double fit =
      MIN (1.0, MIN ((double) width / out_width, (double) height / out_height));

  box->width = side (out_width * fit, width);
  box->height = side (out_height * fit, height);
  draw_place (random, width, height, box);
}

void
spdl_augment_draw (const SpdlAugment *self, guint64 epoch, guint64 index,
    guint width, guint height, guint out_width, guint out_height, SpdlBox *box,
    gboolean *flip)
{
  const guint64 key[] = { self->seed, epoch, index, SPDL_AUGMENT_KEY };
  SpdlRandom random;

  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  *box = (SpdlBox){ 0, 0, width, height };
  if (self->kind == SPDL_AUGMENT_RANDOM_RESIZED_CROP)
    draw_resized_crop (self, &random, width, height, box);
  else if (self->kind == SPDL_AUGMENT_RANDOM_CROP)
    draw_crop (&random, width, height, out_width, out_height, box);
  *flip = spdl_random_double (&random) < self->flip;
}
