/* gst-spdl: the weights of a filter that is a triangle of few taps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/triangles.h"

#include <math.h>
#include <string.h>

#include "plugins/codec/resize/filterkey.h"
#include "plugins/codec/resize/grow.h"

/* So many samples at a time; those behind the last one repeat it. */
#define BLOCK 32
typedef float Lanes[BLOCK];

/* Where triangles stand, in samples before they are halved. */
typedef struct {
  const SpdlFilterKey *key;
  double begin, scale, support, skip;
  float step;
  gint least, most;
  gint n_samples; /* that there are */
  guint n_taps;   /* at most, halved or not */
} Shape;

/* The taps of a block, halved or not; the last plane is their sums. */
typedef struct {
  gint first[BLOCK];
  float *planes[SPDL_TRIANGLES_TAPS + 1];
} Block;

void
spdl_triangles_clear (SpdlTriangles *self)
{
  g_free (self->weights);
  g_free (self->rounded);
}

static double
get_support (const SpdlFilterKey *key)
{
  return MAX (spdl_filter_key_get_scale (key), 1.0);
}

/* Samples under a triangle; halved, as many and the parts of two more. */
static guint
count_taps (const SpdlFilterKey *key, double support)
{
  const guint n = MIN (ceil (2 * support), key->n_in);

  return key->doubled ? MIN (n / 2 + 2, (key->n_in + 1) / 2) : n;
}

gboolean
spdl_triangles_can_make (const SpdlFilterKey *key)
{
  return key->interpolation == SPDL_INTERPOLATION_BILINEAR &&
         count_taps (key, get_support (key)) <= SPDL_TRIANGLES_TAPS;
}

static Shape
get_shape (const SpdlFilterKey *key)
{
  const double support = get_support (key);

  return (Shape){
    .key = key,
    .begin = (double) key->begin / key->unit,
    .skip = key->skip,
    .scale = spdl_filter_key_get_scale (key),
    .support = support,
    .step = 1 / support,
    .least = key->crop ? spdl_filter_key_get_first (key) : 0,
    .most = key->crop ? spdl_filter_key_get_end (key) : key->n_in,
    .n_samples = key->doubled ? (key->n_in + 1) / 2 : key->n_in,
    .n_taps = count_taps (key, support),
  };
}

/* Pillow's places, in its order of operations, as roundings decide which
 * samples count. */
static inline double
get_center (const Shape *shape, gint o)
{
  return shape->begin + (o + shape->skip + 0.5) * shape->scale;
}

/* The first samples of the triangles from @o on, and where these stand on
 * them: from -1 to 1 is what counts. */
static void
place (const Shape *shape, gint o, gint *restrict first, float *restrict x)
{
  const gint last = shape->key->n_out - 1;

  for (gint i = 0; i < BLOCK; i++) {
    const double center = get_center (shape, MIN (o + i, last));
    const gint at = (gint) (center - shape->support + 0.5);

    first[i] = MAX (at, shape->least);
    x[i] = (first[i] - center + 0.5) * shape->step;
  }
}

/* The triangles at the sample that is @k behind the first. Arithmetic in place
 * of conditions, which compilers do not vectorise. */
static inline void
sample (const Shape *shape, const gint *first, const float *x, gint k,
    float *restrict taps)
{
  for (gint i = 0; i < BLOCK; i++) {
    const float weight = 1 - fabsf (x[i] + k * shape->step);
    const gint at = first[i] + k;
    const gint is_there = (at >= shape->least) & (at < shape->most);

    taps[i] = (weight + fabsf (weight)) * (0.5f * is_there);
  }
}

/* What a sample to the left of the first one would have is the first one's. */
static void
fold_left (Block *block, Lanes *doubled)
{
  for (guint i = 0; i < BLOCK && block->first[i] == 0; i++)
    block->planes[0][i] += 0.25f * doubled[1][i];
}

static void
fold_right (const Shape *shape, Block *block, Lanes *doubled)
{
  for (guint i = BLOCK; i > 0; i--) {
    const guint beyond = shape->n_samples - block->first[i - 1];

    if (beyond > shape->n_taps)
      return;
    block->planes[beyond - 1][i - 1] += 0.25f * doubled[2 * beyond][i - 1];
    if (beyond < shape->n_taps)
      block->planes[beyond][i - 1] = 0;
  }
}

/* Of a sample and the next, which are doubled, 3/4 are the first one of two,
 * and 1/4 is from either side: what comes from there goes to the sample. */
static void
halve (const Lanes *restrict doubled, float *restrict taps)
{
  for (guint i = 0; i < BLOCK; i++)
    taps[i] = 0.75f * (doubled[1][i] + doubled[2][i]) +
              0.25f * (doubled[0][i] + doubled[3][i]);
}

/* Doubled samples go from one before the first that counts. */
static void
make_halved (const Shape *shape, Block *block, Lanes x)
{
  Lanes doubled[2 * SPDL_TRIANGLES_TAPS + 2];
  gint first[BLOCK];

  for (guint i = 0; i < BLOCK; i++) {
    const gint at = block->first[i];
    const gint half = (at - (at > 0)) >> 1;

    x[i] += (2 * half - at) * shape->step;
    first[i] = 2 * half;
    block->first[i] = half;
  }
  for (guint k = 0; k < 2 * shape->n_taps + 2; k++)
    sample (shape, first, x, (gint) k - 1, doubled[k]);
  for (guint t = 0; t < shape->n_taps; t++)
    halve ((const Lanes *) doubled + 2 * t, block->planes[t]);
  fold_left (block, doubled);
  fold_right (shape, block, doubled);
}

static void
add_up (float *restrict sums, const float *restrict taps)
{
  for (guint i = 0; i < BLOCK; i++)
    sums[i] += taps[i];
}

static void
make_block (const Shape *shape, guint o, Block *block)
{
  float *sums = block->planes[shape->n_taps];
  Lanes x;

  place (shape, o, block->first, x);
  if (shape->key->doubled)
    make_halved (shape, block, x);
  else
    for (guint t = 0; t < shape->n_taps; t++)
      sample (shape, block->first, x, t, block->planes[t]);
  for (guint i = 0; i < BLOCK; i++)
    sums[i] = 0;
  for (guint t = 0; t < shape->n_taps; t++)
    add_up (sums, block->planes[t]);
}

static gboolean
make_room (SpdlTriangles *self, guint n_out, guint n_taps)
{
  self->stride = ((gsize) n_out + BLOCK - 1) / BLOCK * BLOCK;
  self->n_planes = n_taps;
  return spdl_grow ((gpointer *) &self->weights, &self->n_weights_allocated,
             self->stride, (SPDL_TRIANGLES_TAPS + 1) * sizeof (float)) &&
         spdl_grow ((gpointer *) &self->rounded, &self->n_rounded_allocated,
             self->stride, SPDL_TRIANGLES_TAPS * sizeof (gint16));
}

/* Returns the least sum of a sample's weights. */
static float
draft (SpdlTriangles *self, const Shape *shape, guint *first)
{
  const guint n_out = shape->key->n_out;
  float least = G_MAXFLOAT;
  Block block;

  for (guint o = 0; o < n_out; o += BLOCK) {
    const float *sums;

    for (guint t = 0; t <= shape->n_taps; t++)
      block.planes[t] = self->weights + t * self->stride + o;
    make_block (shape, o, &block);
    memcpy (first + o, block.first, MIN (BLOCK, n_out - o) * sizeof (gint));
    sums = block.planes[shape->n_taps];
    for (guint i = 0; i < BLOCK; i++)
      least = MIN (least, sums[i]);
  }
  return least;
}

/* Each weight is what the sum of all up to it grows by when that is rounded: so
 * they add up. */
static void
round_block (SpdlTriangles *self, guint o, float one)
{
  const float *all = self->weights + self->n_planes * self->stride + o;
  Lanes factors, sums;
  gint before[BLOCK] = { 0 };

  for (guint i = 0; i < BLOCK; i++) {
    factors[i] = one / all[i];
    sums[i] = 0.5f;
  }
  for (guint t = 0; t < self->n_planes; t++) {
    const float *weights = self->weights + t * self->stride + o;
    gint16 *rounded = self->rounded + t * self->stride + o;

    for (guint i = 0; i < BLOCK; i++) {
      gint now;

      sums[i] += weights[i] * factors[i];
      now = (gint) sums[i];
      rounded[i] = now - before[i];
      before[i] = now;
    }
  }
}

static gboolean
is_zero (const gint16 *plane, gsize n)
{
  gint16 any = 0;

  for (gsize i = 0; i < n; i++)
    any |= plane[i];
  return any == 0;
}

/* No triangle ends behind the last one. */
static guint
get_end (const Shape *shape)
{
  const double center = get_center (shape, shape->key->n_out - 1);
  const gint end = MIN ((gint) (center + shape->support + 0.5), shape->most);

  return shape->key->doubled ? MIN (end / 2 + 1, shape->n_samples) : end;
}

gboolean
spdl_triangles_make (
    SpdlTriangles *self, const SpdlFilterKey *key, SpdlFilter *filter)
{
  const Shape shape = get_shape (key);
  float largest;

  if (!make_room (self, key->n_out, shape.n_taps))
    return FALSE;
  /* A sample stands for two where it is halved. */
  largest = (key->doubled ? 2 : 1) / draft (self, &shape, filter->first);
  filter->shift =
      spdl_filter_key_get_shift (key, MIN (largest, 1), 1, SPDL_TRIANGLES_TAPS);
  for (guint o = 0; o < key->n_out; o += BLOCK)
    round_block (self, o, 1 << filter->shift);
  filter->n_taps = shape.n_taps;
  while (filter->n_taps > 1 &&
         is_zero (
             self->rounded + (filter->n_taps - 1) * self->stride, self->stride))
    filter->n_taps--;
  filter->source_begin = filter->first[0];
  filter->source_end =
      MIN (get_end (&shape), filter->first[key->n_out - 1] + filter->n_taps);
  return TRUE;
}

void
spdl_triangles_write (const SpdlTriangles *self, SpdlFilter *filter)
{
  const guint limit = filter->source_end - filter->n_taps;
  guint o = filter->n_out;

  for (; o > 0 && filter->first[o - 1] > limit; o--) {
    const guint by = filter->first[o - 1] - limit;
    gint16 *weights = filter->weights + (gsize) (o - 1) * filter->stride;

    for (guint t = 0; t + by < filter->n_taps; t++)
      weights[t + by] = self->rounded[t * self->stride + o - 1];
    filter->first[o - 1] = limit;
  }
  for (guint t = 0; t < filter->n_taps; t++) {
    const gint16 *rounded = self->rounded + t * self->stride;

    for (guint i = 0; i < o; i++)
      filter->weights[(gsize) i * filter->stride + t] = rounded[i];
  }
}
