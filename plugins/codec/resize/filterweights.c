/* gst-spdl: weights of the resizer's filters
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/filterweights.h"

#include <math.h>
#include <string.h>

#include "plugins/codec/resize/filter.h"
#include "plugins/codec/resize/scratch.h"

/* Number of fractional bits in Pillow's filters. */
#define MAX_SHIFT 22
#define MAX_WEIGHT (G_MAXINT16 - 1)

/* Returns the largest shift at which weights fit in 16 bits and sums in 32.
 * @largest: the largest weight
 * @sum: largest sum of the absolute weights of a sample, which rounding may
 * change by 1 per tap */
static inline guint
get_shift (const SpdlFilterKey *key, double largest, double sum, gsize n_taps)
{
  guint shift = MAX_SHIFT;

  while (largest * (1 << shift) > MAX_WEIGHT ||
         (sum * (1 << shift) + n_taps) * key->max_value +
                 (1 << shift) * (key->max_value / 510.0) >
             G_MAXINT32)
    shift--;
  return shift;
}

/* Range of samples that overlap with the crop. */
static inline guint
get_first (const SpdlFilterKey *key)
{
  return key->begin / key->unit;
}

static inline guint
get_box_end (const SpdlFilterKey *key)
{
  const guint64 end = (guint64) key->begin + key->length + key->unit - 1;

  return MIN (end / key->unit, key->n_in);
}

static inline double
get_scale (const SpdlFilterKey *key)
{
  return (double) key->length / key->unit / key->n_full;
}

/* Bilinear filters with few taps */

/* Number of output samples per block. Lanes after the last sample repeat it. */
#define BLOCK 32
typedef float Lanes[BLOCK];

/* Geometry of the triangle filters, in full-resolution samples. */
typedef struct {
  const SpdlFilterKey *key;
  double begin, scale, support, skip;
  float step;
  gint least, most;
  gint n_samples; /* number of input samples */
  guint n_taps;   /* maximum, after halving */
} Shape;

/* Taps of a block, after halving; the last plane holds their sums. */
typedef struct {
  gint first[BLOCK];
  float *planes[SPDL_TRIANGLE_FILTER_TAPS + 1];
} Block;

static void
clear_triangles (SpdlTriangleFilter *self)
{
  g_free (self->weights);
  g_free (self->rounded);
}

static double
get_support (const SpdlFilterKey *key)
{
  return MAX (get_scale (key), 1.0);
}

/* Returns the number of samples under a triangle. Halving gives half as many,
 * plus parts of two more. */
static guint
count_taps (const SpdlFilterKey *key, double support)
{
  const guint n = MIN (ceil (2 * support), key->n_in);

  return key->doubled ? MIN (n / 2 + 2, (key->n_in + 1) / 2) : n;
}

/* Returns whether @key describes a bilinear filter with few taps. */
static gboolean
can_make_triangles (const SpdlFilterKey *key)
{
  return key->interpolation == SPDL_INTERPOLATION_BILINEAR &&
         count_taps (key, get_support (key)) <= SPDL_TRIANGLE_FILTER_TAPS;
}

static Shape
get_shape (const SpdlFilterKey *key)
{
  const double support = get_support (key);

  return (Shape){
    .key = key,
    .begin = (double) key->begin / key->unit,
    .skip = key->skip,
    .scale = get_scale (key),
    .support = support,
    .step = 1 / support,
    .least = key->crop ? get_first (key) : 0,
    .most = key->crop ? get_box_end (key) : key->n_in,
    .n_samples = key->doubled ? (key->n_in + 1) / 2 : key->n_in,
    .n_taps = count_taps (key, support),
  };
}

/* Returns the center of output sample @o. The order of operations is Pillow's,
 * because rounding decides which samples have a weight. */
static inline double
get_center (const Shape *shape, gint o)
{
  return shape->begin + (o + shape->skip + 0.5) * shape->scale;
}

/* Computes for the triangles from @o on their first sample, and its position on
 * the triangle, which extends from -1 to 1. */
static void
place_taps (const Shape *shape, gint o, gint *restrict first, float *restrict x)
{
  const gint last = shape->key->n_out - 1;

  for (gint i = 0; i < BLOCK; i++) {
    const double center = get_center (shape, MIN (o + i, last));
    const gint at = (gint) (center - shape->support + 0.5);

    first[i] = MAX (at, shape->least);
    x[i] = (first[i] - center + 0.5) * shape->step;
  }
}

/* Computes the weights of the samples @k after the first ones. Uses arithmetic
 * instead of conditions, which compilers do not vectorize. */
static inline void
sample_triangles (const Shape *shape, const gint *first, const float *x, gint k,
    float *restrict taps)
{
  for (gint i = 0; i < BLOCK; i++) {
    const float weight = 1 - fabsf (x[i] + k * shape->step);
    const gint at = first[i] + k;
    const gint is_there = (at >= shape->least) & (at < shape->most);

    taps[i] = (weight + fabsf (weight)) * (0.5f * is_there);
  }
}

/* Adds the weight of the sample before the first one, which is replicated, to
 * the first one. */
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

/* Merges the weights of upsampled samples into those of the input samples. Of
 * two upsampled samples, 3/4 come from the input sample between them and 1/4
 * from its neighbors. */
static void
halve_samples (const Lanes *restrict doubled, float *restrict taps)
{
  for (guint i = 0; i < BLOCK; i++)
    taps[i] = 0.75f * (doubled[1][i] + doubled[2][i]) +
              0.25f * (doubled[0][i] + doubled[3][i]);
}

/* Computes the taps of a block for half-resolution input. Upsampled samples
 * start one before the first that has a weight. */
static void
make_halved (const Shape *shape, Block *block, Lanes x)
{
  Lanes doubled[2 * SPDL_TRIANGLE_FILTER_TAPS + 2];
  gint first[BLOCK];

  for (guint i = 0; i < BLOCK; i++) {
    const gint at = block->first[i];
    const gint half = (at - (at > 0)) >> 1;

    x[i] += (2 * half - at) * shape->step;
    first[i] = 2 * half;
    block->first[i] = half;
  }
  for (guint k = 0; k < 2 * shape->n_taps + 2; k++)
    sample_triangles (shape, first, x, (gint) k - 1, doubled[k]);
  for (guint t = 0; t < shape->n_taps; t++)
    halve_samples ((const Lanes *) doubled + 2 * t, block->planes[t]);
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

  place_taps (shape, o, block->first, x);
  if (shape->key->doubled)
    make_halved (shape, block, x);
  else
    for (guint t = 0; t < shape->n_taps; t++)
      sample_triangles (shape, block->first, x, t, block->planes[t]);
  for (guint i = 0; i < BLOCK; i++)
    sums[i] = 0;
  for (guint t = 0; t < shape->n_taps; t++)
    add_up (sums, block->planes[t]);
}

static gboolean
make_room (SpdlTriangleFilter *self, guint n_out, guint n_taps)
{
  self->stride = ((gsize) n_out + BLOCK - 1) / BLOCK * BLOCK;
  self->n_planes = n_taps;
  return spdl_scratch_grow ((gpointer *) &self->weights,
             &self->n_weights_allocated, self->stride,
             (SPDL_TRIANGLE_FILTER_TAPS + 1) * sizeof (float)) &&
         spdl_scratch_grow ((gpointer *) &self->rounded,
             &self->n_rounded_allocated, self->stride,
             SPDL_TRIANGLE_FILTER_TAPS * sizeof (gint16));
}

/* Computes the unnormalized weights. Returns the smallest sum of a sample's
 * weights. */
static float
compute_triangle (SpdlTriangleFilter *self, const Shape *shape, guint *first)
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

/* Rounds the weights so that they add up exactly: each weight is the increment
 * of the rounded cumulative sum. */
static void
round_block (SpdlTriangleFilter *self, guint o, float one)
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

/* Returns the end of the input range. The last triangle ends last. */
static guint
get_end (const Shape *shape)
{
  const double center = get_center (shape, shape->key->n_out - 1);
  const gint end = MIN ((gint) (center + shape->support + 0.5), shape->most);

  return shape->key->doubled ? MIN (end / 2 + 1, shape->n_samples) : end;
}

/* Computes triangle filters; see spdl_filter_weights_make(). */
static gboolean
make_triangles (
    SpdlTriangleFilter *self, const SpdlFilterKey *key, SpdlFilter *filter)
{
  const Shape shape = get_shape (key);
  float largest;

  if (!make_room (self, key->n_out, shape.n_taps))
    return FALSE;
  /* With half-resolution input, a sample has the weight of two. */
  largest =
      (key->doubled ? 2 : 1) / compute_triangle (self, &shape, filter->first);
  filter->shift =
      get_shift (key, MIN (largest, 1), 1, SPDL_TRIANGLE_FILTER_TAPS);
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

static void
write_triangles (const SpdlTriangleFilter *self, SpdlFilter *filter)
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

#define UNDOUBLE_PADDING 3

/* Kernel functions, of the distance @x */

static inline double
cubic_kernel (double x)
{
  static const double a = -0.5;

  x = fabs (x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double
get_radius (SpdlInterpolation interpolation)
{
  switch (interpolation) {
    case SPDL_INTERPOLATION_BICUBIC:
      return 2;
    case SPDL_INTERPOLATION_LANCZOS:
      return 3;
    default:
      return 1;
  }
}

/* Triangle filter with more taps than SPDL_TRIANGLE_FILTER_TAPS. Single
 * precision, without branches. */
static inline double
sample_triangle (SpdlWeight *weights, guint n, float x, float step)
{
  float sum = 0;

  for (guint i = 0; i < n; i++, x += step) {
    const float weight = 1 - fabsf (x);

    sum += weights[i].value = MAX (weight, 0);
  }
  return sum;
}

/* Computes sinc (x) sinc (x / 3) at @n equidistant positions. Uses the angle
 * addition theorem, because sin () would dominate the time. */
static double
sample_lanczos (SpdlWeight *weights, guint n, double x, double step)
{
  const double turn_sin = sin (step * G_PI / 3);
  const double turn_cos = cos (step * G_PI / 3);
  double s = sin (x * G_PI / 3), c = cos (x * G_PI / 3);
  double sum = 0;

  for (guint i = 0; i < n; i++) {
    const double place = x + i * step, t = place * G_PI / 3;
    const double s_before = s;
    double weight = 0;

    if (fabs (place) < 1e-6)
      weight = 1;
    else if (fabs (place) < 3)
      weight = s * s * (3 - 4 * s * s) / (3 * t * t);
    sum += weights[i].value = weight;
    s = s_before * turn_cos + c * turn_sin;
    c = c * turn_cos - s_before * turn_sin;
  }
  return sum;
}

/* Computes @n unnormalized weights at distances from @x on, @step apart.
 * Returns their sum. */
static double
sample_kernel (SpdlWeight *weights, guint n, SpdlInterpolation interpolation,
    double x, double step)
{
  double sum = 0;

  switch (interpolation) {
    case SPDL_INTERPOLATION_LANCZOS:
      return sample_lanczos (weights, n, x, step);
    case SPDL_INTERPOLATION_BICUBIC:
      for (guint i = 0; i < n; i++)
        sum += weights[i].value = cubic_kernel (x + i * step);
      return sum;
    default:
      return sample_triangle (weights, n, x, step);
  }
}

/* Computing weights */

static gboolean
reserve_doubled (SpdlFilterWeights *self)
{
  if (!spdl_scratch_grow ((gpointer *) &self->doubled,
          &self->n_doubled_allocated, self->stride + 2 * UNDOUBLE_PADDING,
          sizeof (SpdlWeight)))
    return FALSE;
  for (guint i = 0; i < UNDOUBLE_PADDING; i++)
    self->doubled[i].value = 0;
  return TRUE;
}

static gboolean
reserve_weights (
    SpdlFilterWeights *self, const SpdlFilterKey *key, double support)
{
  /* Halving three weights may give three again. */
  const double stride = MIN (ceil (support) * 2 + 1, key->n_in);
  gsize n;

  self->stride = stride;
  return g_size_checked_mul (&n, self->stride, key->n_out) &&
         spdl_scratch_grow ((gpointer *) &self->weights, &self->n_allocated, n,
             sizeof (SpdlWeight)) &&
         spdl_scratch_grow ((gpointer *) &self->counts,
             &self->n_counts_allocated, key->n_out, sizeof (guint)) &&
         spdl_scratch_grow ((gpointer *) &self->factors,
             &self->n_factors_allocated, key->n_out, sizeof (float)) &&
         (!key->doubled || reserve_doubled (self));
}

/* Converts @count weights of upsampled samples from @first on, which have zeros
 * on both sides, to weights of the input samples: an upsampled sample is 3/4 of
 * one input sample and 1/4 of another. The outermost samples are replicated at
 * the edges. */
static void
undouble_weights (SpdlFilterWeights *self, const SpdlFilterKey *key,
    SpdlWeight *weights, guint *first, guint *count)
{
  const guint n_samples = (key->n_in + 1) / 2;
  const guint begin = (MAX (*first, 1) - 1) / 2;
  const guint end = MIN ((*first + *count) / 2 + 1, n_samples);
  const SpdlWeight *doubled =
      self->doubled + UNDOUBLE_PADDING + begin * 2 - *first;
  const float beside_first = begin == 0 ? doubled[0].value : 0;
  const float beside_last = end == n_samples && key->n_in % 2 == 0
                                ? doubled[(end - begin) * 2 - 1].value
                                : 0;

  for (guint i = 0; i < end - begin; i++, doubled += 2)
    weights[i].value = 0.75f * (doubled[0].value + doubled[1].value) +
                       0.25f * (doubled[-1].value + doubled[2].value);
  weights[0].value += 0.25f * beside_first;
  weights[end - begin - 1].value += 0.25f * beside_last;
  *first = begin;
  *count = end - begin;
}

/* Computes the unnormalized weights of one output sample. Returns their sum. */
static double
sample_filter (SpdlFilterWeights *self, const SpdlFilterKey *key,
    SpdlWeight *weights, double x, double step, guint *first, guint *count)
{
  SpdlWeight *doubled;
  double sum;

  if (!key->doubled)
    return sample_kernel (weights, *count, key->interpolation, x, step);
  doubled = self->doubled + UNDOUBLE_PADDING;
  sum = sample_kernel (doubled, *count, key->interpolation, x, step);
  for (guint i = 0; i < UNDOUBLE_PADDING; i++)
    doubled[*count + i].value = 0;
  undouble_weights (self, key, weights, first, count);
  return sum;
}

/* Finds the largest weights. Not needed for a triangle, whose unnormalized
 * weights are between 0 and 1, or 2 with half-resolution input. */
static void
measure_weights (
    const SpdlFilterWeights *self, guint o, float *largest, float *largest_sum)
{
  const SpdlWeight *weights = self->weights + o * self->stride;
  float most = 0, sum = 0;

  for (guint i = 0; i < self->counts[o]; i++) {
    const float size = fabsf (weights[i].value);

    most = MAX (most, size);
    sum += size;
  }
  *largest = MAX (*largest, most * self->factors[o]);
  *largest_sum = MAX (*largest_sum, sum * self->factors[o]);
}

/* Positions are computed in Pillow's order of operations, because rounding
 * decides which samples have a weight. */
static void
compute_weights (SpdlFilterWeights *self, SpdlFilter *filter,
    const SpdlFilterKey *key, double scale, double support)
{
  const double step = 1 / MAX (scale, 1.0);
  const double begin = (double) key->begin / key->unit;
  const gint least = key->crop ? get_first (key) : 0;
  const gint most = key->crop ? get_box_end (key) : key->n_in;
  float largest = 0, largest_sum = 1;

  for (guint o = 0; o < key->n_out; o++) {
    const double center = begin + (o + key->skip + 0.5) * scale;
    const gint first = MAX ((gint) (center - support + 0.5), least);
    const gint end = MIN ((gint) (center + support + 0.5), most);
    SpdlWeight *weights = self->weights + o * self->stride;
    float inverse;

    filter->first[o] = first;
    self->counts[o] = end - first;
    inverse =
        1 / sample_filter (self, key, weights, (first - center + 0.5) * step,
                step, filter->first + o, self->counts + o);
    self->factors[o] = inverse;
    if (key->interpolation == SPDL_INTERPOLATION_BILINEAR)
      largest = MAX (largest, MIN (key->doubled ? 2 * inverse : inverse, 1));
    else
      measure_weights (self, o, &largest, &largest_sum);
  }
  filter->shift = get_shift (key, largest, largest_sum, self->stride);
}

/* Rounds the weights so that they add up exactly: each weight is the increment
 * of the rounded cumulative sum. Trims zeros on both sides. (The sums are above
 * -1; with 1 added, truncation rounds down.) */
static void
round_weights (SpdlFilterWeights *self, SpdlFilter *filter, guint o)
{
  SpdlWeight *weights = self->weights + o * self->stride;
  const gint one = 1 << filter->shift;
  const double factor = (double) self->factors[o] * one;
  guint begin = 0, end = self->counts[o];
  double sum = one + 0.5;
  gint before = 0;

  for (guint i = 0; i < end; i++) {
    gint now;

    sum += weights[i].value * factor;
    now = i + 1 < end ? (gint) sum - one : one;
    weights[i].rounded = now - before;
    before = now;
  }
  while (end > 1 && weights[end - 1].rounded == 0)
    end--;
  while (begin + 1 < end && weights[begin].rounded == 0)
    begin++;
  if (begin > 0)
    memmove (weights, weights + begin, (end - begin) * sizeof (SpdlWeight));
  filter->first[o] += begin;
  self->counts[o] = end - begin;
}

/* Restores the order of the first samples, which trimming may have broken: rows
 * are consumed in order, so a sample that would begin after its successor gets
 * some zeros back. */
static void
order_weights (SpdlFilterWeights *self, SpdlFilter *filter)
{
  for (guint o = filter->n_out - 1; o > 0; o--) {
    const guint limit = filter->first[o];
    guint *first = filter->first + o - 1;
    guint *count = self->counts + o - 1;
    SpdlWeight *weights = self->weights + (o - 1) * self->stride;

    if (*first <= limit)
      continue;
    memmove (weights + *first - limit, weights, *count * sizeof (SpdlWeight));
    memset (weights, 0, (*first - limit) * sizeof (SpdlWeight));
    *count += *first - limit;
    *first = limit;
  }
}

/* Accumulates positions like Pillow, whose rounding decides the sample if a
 * position is exactly between two. */
void
spdl_filter_find_nearest (const SpdlFilterKey *key, guint *samples)
{
  const double scale = get_scale (key);
  double place = (double) key->begin / key->unit + scale * 0.5;

  for (guint o = 0; o < key->skip; o++)
    place += scale;
  for (guint o = 0; o < key->n_out; o++, place += scale)
    samples[o] = MIN ((guint) place, get_box_end (key) - 1);
}

static void
compute_nearest (
    SpdlFilterWeights *self, SpdlFilter *filter, const SpdlFilterKey *key)
{
  filter->shift = 14;
  spdl_filter_find_nearest (key, filter->first);
  for (guint o = 0; o < key->n_out; o++) {
    self->counts[o] = 1;
    self->weights[o * self->stride].rounded = 1 << filter->shift;
  }
}

static void
find_source (SpdlFilter *self, const guint *counts)
{
  self->n_taps = 1;
  self->source_begin = G_MAXUINT;
  self->source_end = 0;
  for (guint o = 0; o < self->n_out; o++) {
    self->n_taps = MAX (self->n_taps, counts[o]);
    self->source_begin = MIN (self->source_begin, self->first[o]);
    self->source_end = MAX (self->source_end, self->first[o] + counts[o]);
  }
}

void
spdl_filter_weights_clear (SpdlFilterWeights *self)
{
  clear_triangles (&self->triangle_filter);
  g_free (self->weights);
  g_free (self->factors);
  g_free (self->doubled);
  g_free (self->counts);
}

gboolean
spdl_filter_weights_make (
    SpdlFilterWeights *self, const SpdlFilterKey *key, SpdlFilter *filter)
{
  const gboolean nearest = key->interpolation == SPDL_INTERPOLATION_NEAREST;
  const double scale = get_scale (key);
  const double support =
      nearest ? 0 : get_radius (key->interpolation) * MAX (scale, 1.0);

  filter->n_out = key->n_out;
  self->is_triangles = can_make_triangles (key);
  if (self->is_triangles)
    return make_triangles (&self->triangle_filter, key, filter);
  if (!reserve_weights (self, key, support))
    return FALSE;
  if (nearest) {
    compute_nearest (self, filter, key);
  } else {
    compute_weights (self, filter, key, scale, support);
    for (guint o = 0; o < key->n_out; o++)
      round_weights (self, filter, o);
    order_weights (self, filter);
  }
  find_source (filter, self->counts);
  return TRUE;
}

void
spdl_filter_weights_write (const SpdlFilterWeights *self, SpdlFilter *filter)
{
  if (self->is_triangles) {
    write_triangles (&self->triangle_filter, filter);
    return;
  }
  for (guint o = 0; o < filter->n_out; o++) {
    gint16 *weights = filter->weights + (gsize) o * filter->stride;
    const guint first =
        MIN (filter->first[o], filter->source_end - filter->n_taps);

    weights += filter->first[o] - first;
    for (guint i = 0; i < self->counts[o]; i++)
      weights[i] = self->weights[o * self->stride + i].rounded;
    filter->first[o] = first;
  }
}
