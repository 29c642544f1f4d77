/* gst-spdl: the weights of a filter, before they are written
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/draft.h"

#include <math.h>
#include <string.h>

#include "plugins/codec/resize/filterkey.h"
#include "plugins/codec/resize/grow.h"

#define UNDOUBLE_PADDING 3

/* The functions, for a sample at a distance of @x */

static inline double
cubic (double x)
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

/* Of more taps than triangles.h makes. In single precision, and without a
 * branch. */
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

/* sinc (x) sinc (x / 3) for @n places: sines of equal steps by the addition
 * theorem, as sin () would take longer than all else here. */
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

/* Drafts @n weights at distances from @x on, @step apart. Returns their sum. */
static double
sample (SpdlWeight *weights, guint n, SpdlInterpolation interpolation, double x,
    double step)
{
  double sum = 0;

  switch (interpolation) {
    case SPDL_INTERPOLATION_LANCZOS:
      return sample_lanczos (weights, n, x, step);
    case SPDL_INTERPOLATION_BICUBIC:
      for (guint i = 0; i < n; i++)
        sum += weights[i].value = cubic (x + i * step);
      return sum;
    default:
      return sample_triangle (weights, n, x, step);
  }
}

/* Drafting */

static gboolean
draft_make_room_for_doubled (SpdlDraft *self)
{
  if (!spdl_grow ((gpointer *) &self->doubled, &self->n_doubled_allocated,
          self->stride + 2 * UNDOUBLE_PADDING, sizeof (SpdlWeight)))
    return FALSE;
  for (guint i = 0; i < UNDOUBLE_PADDING; i++)
    self->doubled[i].value = 0;
  return TRUE;
}

static gboolean
draft_make_room (SpdlDraft *self, const SpdlFilterKey *key, double support)
{
  /* Undoubled, three may become as many again. */
  const double stride = MIN (ceil (support) * 2 + 1, key->n_in);
  gsize n;

  self->stride = stride;
  return g_size_checked_mul (&n, self->stride, key->n_out) &&
         spdl_grow ((gpointer *) &self->weights, &self->n_allocated, n,
             sizeof (SpdlWeight)) &&
         spdl_grow ((gpointer *) &self->counts, &self->n_counts_allocated,
             key->n_out, sizeof (guint)) &&
         spdl_grow ((gpointer *) &self->factors, &self->n_factors_allocated,
             key->n_out, sizeof (float)) &&
         (!key->doubled || draft_make_room_for_doubled (self));
}

/* From weights of doubled samples, @count from @first on with zeros around, to
 * those of the samples themselves: what is 3/4 and 1/4 of two that are doubled.
 * The first and the last one have nothing beside them but themselves. */
static void
draft_undouble (SpdlDraft *self, const SpdlFilterKey *key, SpdlWeight *weights,
    guint *first, guint *count)
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

/* Drafts the weights of one sample, before they add up to 1. Returns their
 * sum. */
static double
draft_sample (SpdlDraft *self, const SpdlFilterKey *key, SpdlWeight *weights,
    double x, double step, guint *first, guint *count)
{
  SpdlWeight *doubled;
  double sum;

  if (!key->doubled)
    return sample (weights, *count, key->interpolation, x, step);
  doubled = self->doubled + UNDOUBLE_PADDING;
  sum = sample (doubled, *count, key->interpolation, x, step);
  for (guint i = 0; i < UNDOUBLE_PADDING; i++)
    doubled[*count + i].value = 0;
  draft_undouble (self, key, weights, first, count);
  return sum;
}

/* What weights have at most. A triangle's need no look: before they add up to 1
 * they are at most 1, or 2 where a sample stands for two, and never below 0. */
static void
draft_measure (
    const SpdlDraft *self, guint o, float *largest, float *largest_sum)
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

/* Pillow's places, in its order of operations, as roundings decide which
 * samples count. */
static void
draft_weights (SpdlDraft *self, SpdlFilter *filter, const SpdlFilterKey *key,
    double scale, double support)
{
  const double step = 1 / MAX (scale, 1.0);
  const double begin = (double) key->begin / key->unit;
  const gint least = key->crop ? spdl_filter_key_get_first (key) : 0;
  const gint most = key->crop ? spdl_filter_key_get_end (key) : key->n_in;
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
        1 / draft_sample (self, key, weights, (first - center + 0.5) * step,
                step, filter->first + o, self->counts + o);
    self->factors[o] = inverse;
    if (key->interpolation == SPDL_INTERPOLATION_BILINEAR)
      largest = MAX (largest, MIN (key->doubled ? 2 * inverse : inverse, 1));
    else
      draft_measure (self, o, &largest, &largest_sum);
  }
  filter->shift =
      spdl_filter_key_get_shift (key, largest, largest_sum, self->stride);
}

/* Each weight is what the sum of all up to it grows by when that is rounded: so
 * they add up. Leaves out what is 0 on either side. (The sums are over -1: with
 * 1 added, to cut is to round down.) */
static void
draft_round (SpdlDraft *self, SpdlFilter *filter, guint o)
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

/* What was left out may make a sample begin behind its successor: rows are
 * taken in order, and the earlier one gets a few zeros back. */
static void
draft_order (SpdlDraft *self, SpdlFilter *filter)
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

/* Adds up as Pillow does, whose roundings decide where a place falls right
 * between two samples. */
static void
draft_nearest (SpdlDraft *self, SpdlFilter *filter, const SpdlFilterKey *key)
{
  const double scale = spdl_filter_key_get_scale (key);
  double place =
      (double) key->begin / key->unit + scale * 0.5 + scale * key->skip;

  filter->shift = 14;
  for (guint o = 0; o < key->n_out; o++, place += scale) {
    filter->first[o] = MIN ((guint) place, spdl_filter_key_get_end (key) - 1);
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
spdl_draft_clear (SpdlDraft *self)
{
  spdl_triangles_clear (&self->triangles);
  g_free (self->weights);
  g_free (self->factors);
  g_free (self->doubled);
  g_free (self->counts);
}

gboolean
spdl_draft_make (SpdlDraft *self, const SpdlFilterKey *key, SpdlFilter *filter)
{
  const gboolean nearest = key->interpolation == SPDL_INTERPOLATION_NEAREST;
  const double scale = spdl_filter_key_get_scale (key);
  const double support =
      nearest ? 0 : get_radius (key->interpolation) * MAX (scale, 1.0);

  filter->n_out = key->n_out;
  self->is_triangles = spdl_triangles_can_make (key);
  if (self->is_triangles)
    return spdl_triangles_make (&self->triangles, key, filter);
  if (!draft_make_room (self, key, support))
    return FALSE;
  if (nearest) {
    draft_nearest (self, filter, key);
  } else {
    draft_weights (self, filter, key, scale, support);
    for (guint o = 0; o < key->n_out; o++)
      draft_round (self, filter, o);
    draft_order (self, filter);
  }
  find_source (filter, self->counts);
  return TRUE;
}

void
spdl_draft_write (const SpdlDraft *self, SpdlFilter *filter)
{
  if (self->is_triangles) {
    spdl_triangles_write (&self->triangles, filter);
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
