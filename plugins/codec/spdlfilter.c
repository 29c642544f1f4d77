/* gst-spdl: the filters of a resize, as whole numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlfilter.h"

#include <math.h>
#include <string.h>

/* Pillow has as many bits below the point. */
#define MAX_SHIFT 22
#define MAX_WEIGHT (G_MAXINT16 - 1)

typedef struct {
  SpdlFilterKey key;
  SpdlFilter filter;
  gsize n_first_allocated;
  gsize n_weights_allocated;
  gsize n_quads_allocated;
  guint64 used; /* 0: never */
} Entry;

/* The most that any entry needed. What is made anew gets as much, so that soon
 * none grows any more: images take entries in turn, and each would otherwise
 * wait for the largest filter to come to it. What is LARGE is an exception, and
 * not kept in reserve. */
#define LARGE 65536
typedef struct {
  gsize n_first, n_weights, n_quads;
} Most;

/* Weights on their way to whole numbers: of each sample that comes out those of
 * all that may count, before they add up to 1. */
typedef union {
  float value;
  gint32 rounded;
} Weight;

typedef struct {
  gsize stride;
  gsize n_allocated, n_counts_allocated, n_factors_allocated;
  gsize n_doubled_allocated;
  Weight *weights;
  guint *counts;
  float *factors;  /* that make a sample's weights add up to 1 */
  Weight *doubled; /* one sample's, with zeros around */
} Draft;

#define UNDOUBLE_PADDING 3

struct _SpdlFilters {
  Entry entries[SPDL_FILTERS_KEPT];
  Draft draft;
  Most most;
  guint64 n_gets;
};

SpdlFilters *
spdl_filters_new (void)
{
  return g_new0 (SpdlFilters, 1);
}

void
spdl_filters_free (SpdlFilters *self)
{
  for (guint i = 0; i < SPDL_FILTERS_KEPT; i++) {
    g_free (self->entries[i].filter.first);
    g_free (self->entries[i].filter.weights);
    g_free (self->entries[i].filter.quads);
  }
  g_free (self->draft.weights);
  g_free (self->draft.factors);
  g_free (self->draft.doubled);
  g_free (self->draft.counts);
  g_free (self);
}

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

/* In single precision, and without a branch: most filters are triangles, and a
 * random crop needs four new ones for each image. */
static inline double
sample_triangle (Weight *weights, guint n, float x, float step)
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
sample_lanczos (Weight *weights, guint n, double x, double step)
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
sample (Weight *weights, guint n, SpdlInterpolation interpolation, double x,
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
grow (gpointer *memory, gsize *n_allocated, gsize n, gsize size)
{
  if (n <= *n_allocated)
    return TRUE;
  g_free (*memory);
  *memory = g_try_malloc_n (n, size);
  *n_allocated = *memory ? n : 0;
  return *memory != NULL;
}

static gboolean
grow_to_most (
    gpointer *memory, gsize *n_allocated, gsize *most, gsize n, gsize size)
{
  if (n * size <= LARGE)
    *most = MAX (n, *most);
  return grow (memory, n_allocated, MAX (n, *most), size);
}

static gboolean
draft_make_room_for_doubled (Draft *self)
{
  if (!grow ((gpointer *) &self->doubled, &self->n_doubled_allocated,
          self->stride + 2 * UNDOUBLE_PADDING, sizeof (Weight)))
    return FALSE;
  for (guint i = 0; i < UNDOUBLE_PADDING; i++)
    self->doubled[i].value = 0;
  return TRUE;
}

static gboolean
draft_make_room (Draft *self, const SpdlFilterKey *key, double support)
{
  /* Undoubled, three may become as many again. */
  const double stride = MIN (ceil (support) * 2 + 1, key->n_in);
  gsize n;

  self->stride = stride;
  return g_size_checked_mul (&n, self->stride, key->n_out) &&
         grow ((gpointer *) &self->weights, &self->n_allocated, n,
             sizeof (Weight)) &&
         grow ((gpointer *) &self->counts, &self->n_counts_allocated,
             key->n_out, sizeof (guint)) &&
         grow ((gpointer *) &self->factors, &self->n_factors_allocated,
             key->n_out, sizeof (float)) &&
         (!key->doubled || draft_make_room_for_doubled (self));
}

/* The shift that makes the most of 16 bits, with sums that fit 32. @largest: of
 * all weights; @sum: of the absolute values of a sample's, which rounding may
 * change by 1 for each. */
static guint
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

/* The samples that the box has a part of. */
static guint
first_sample (const SpdlFilterKey *key)
{
  return key->begin / key->unit;
}

static guint
end_sample (const SpdlFilterKey *key)
{
  const guint64 end = (guint64) key->begin + key->length + key->unit - 1;

  return MIN (end / key->unit, key->n_in);
}

static double
scale_of (const SpdlFilterKey *key)
{
  return (double) key->length / key->unit / key->n_full;
}

/* From weights of doubled samples, @count from @first on with zeros around, to
 * those of the samples themselves: what is 3/4 and 1/4 of two that are doubled.
 * The first and the last one have nothing beside them but themselves. */
static void
draft_undouble (Draft *self, const SpdlFilterKey *key, Weight *weights,
    guint *first, guint *count)
{
  const guint n_samples = (key->n_in + 1) / 2;
  const guint begin = (MAX (*first, 1) - 1) / 2;
  const guint end = MIN ((*first + *count) / 2 + 1, n_samples);
  const Weight *doubled = self->doubled + UNDOUBLE_PADDING + begin * 2 - *first;
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
draft_sample (Draft *self, const SpdlFilterKey *key, Weight *weights, double x,
    double step, guint *first, guint *count)
{
  Weight *doubled;
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
draft_measure (const Draft *self, guint o, float *largest, float *largest_sum)
{
  const Weight *weights = self->weights + o * self->stride;
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
draft_weights (Draft *self, SpdlFilter *filter, const SpdlFilterKey *key,
    double scale, double support)
{
  const double step = 1 / MAX (scale, 1.0);
  const double begin = (double) key->begin / key->unit;
  const gint least = key->crop ? first_sample (key) : 0;
  const gint most = key->crop ? end_sample (key) : key->n_in;
  float largest = 0, largest_sum = 1;

  for (guint o = 0; o < key->n_out; o++) {
    const double center = begin + (o + key->skip + 0.5) * scale;
    const gint first = MAX ((gint) (center - support + 0.5), least);
    const gint end = MIN ((gint) (center + support + 0.5), most);
    Weight *weights = self->weights + o * self->stride;
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
  filter->shift = get_shift (key, largest, largest_sum, self->stride);
}

/* Each weight is what the sum of all up to it grows by when that is rounded: so
 * they add up. Leaves out what is 0 on either side. (The sums are over -1: with
 * 1 added, to cut is to round down.) */
static void
draft_round (Draft *self, SpdlFilter *filter, guint o)
{
  Weight *weights = self->weights + o * self->stride;
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
    memmove (weights, weights + begin, (end - begin) * sizeof (Weight));
  filter->first[o] += begin;
  self->counts[o] = end - begin;
}

/* What was left out may make a sample begin behind its successor: rows are
 * taken in order, and the earlier one gets a few zeros back. */
static void
draft_order (Draft *self, SpdlFilter *filter)
{
  for (guint o = filter->n_out - 1; o > 0; o--) {
    const guint limit = filter->first[o];
    guint *first = filter->first + o - 1;
    guint *count = self->counts + o - 1;
    Weight *weights = self->weights + (o - 1) * self->stride;

    if (*first <= limit)
      continue;
    memmove (weights + *first - limit, weights, *count * sizeof (Weight));
    memset (weights, 0, (*first - limit) * sizeof (Weight));
    *count += *first - limit;
    *first = limit;
  }
}

/* Filters */

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

static gboolean
make_weights (Entry *self, Most *most, const Draft *draft)
{
  SpdlFilter *filter = &self->filter;
  gsize n;

  filter->stride = (filter->n_taps + 7) & ~7u;
  if (!g_size_checked_mul (
          &n, filter->stride, (gsize) filter->n_out + (SPDL_FILTER_STEP - 1)) ||
      !grow_to_most ((gpointer *) &filter->weights, &self->n_weights_allocated,
          &most->n_weights, n, sizeof (gint16)))
    return FALSE;
  memset (filter->weights, 0, n * sizeof (gint16));
  for (guint o = 0; o < filter->n_out; o++) {
    gint16 *weights;
    const guint first =
        MIN (filter->first[o], filter->source_end - filter->n_taps);

    weights = filter->weights + (gsize) o * filter->stride;
    weights += filter->first[o] - first;
    for (guint i = 0; i < draft->counts[o]; i++)
      weights[i] = draft->weights[o * draft->stride + i].rounded;
    filter->first[o] = first;
  }
  for (guint i = 0; i < SPDL_FILTER_STEP - 1; i++)
    filter->first[filter->n_out + i] = filter->first[filter->n_out - 1];
  return TRUE;
}

/* Whether the taps of each four samples lie so near that one load has all. */
static gboolean
fits_quads (const SpdlFilter *filter)
{
  for (guint o = 0; o < filter->n_out; o += SPDL_FILTER_STEP)
    if (filter->first[o + SPDL_FILTER_STEP - 1] - filter->first[o] +
            filter->n_taps >
        sizeof ((SpdlFilterQuad *) NULL)->places)
      return FALSE;
  return TRUE;
}

/* Of an odd number of taps the last one's partner has weight 0, and is its
 * twin. */
static void
set_quad (SpdlFilterQuad *self, const SpdlFilter *filter, guint o, guint tap)
{
  const guint next = tap + 1 < filter->n_taps;
  const gint16 *weights = filter->weights + (gsize) o * filter->stride + tap;
  guint8 *places = self->places;

  for (guint i = 0; i < SPDL_FILTER_STEP; i++, places += 4) {
    const guint at = filter->first[o + i] - filter->first[o] + tap;

    places[0] = at;
    places[1] = 0xff;
    places[2] = at + next;
    places[3] = 0xff;
    memcpy (self->weights + i * 2, weights + i * filter->stride,
        2 * sizeof (gint16));
  }
}

static gboolean
make_quads (Entry *self, Most *most)
{
  SpdlFilter *filter = &self->filter;
  SpdlFilterQuad *quad;
  gsize n;

  filter->n_pairs = 0;
  if (!fits_quads (filter))
    return TRUE;
  n = (filter->n_taps + 1) / 2 *
      (((gsize) filter->n_out + SPDL_FILTER_STEP - 1) / SPDL_FILTER_STEP);
  if (!grow_to_most ((gpointer *) &filter->quads, &self->n_quads_allocated,
          &most->n_quads, n, sizeof (SpdlFilterQuad)))
    return FALSE;
  filter->n_pairs = (filter->n_taps + 1) / 2;
  quad = filter->quads;
  for (guint o = 0; o < filter->n_out; o += SPDL_FILTER_STEP)
    for (guint tap = 0; tap < filter->n_taps; tap += 2)
      set_quad (quad++, filter, o, tap);
  return TRUE;
}

/* Adds up as Pillow does, whose roundings decide where a place falls right
 * between two samples. */
static void
draft_nearest (Draft *self, SpdlFilter *filter, const SpdlFilterKey *key)
{
  const double scale = scale_of (key);
  double place =
      (double) key->begin / key->unit + scale * 0.5 + scale * key->skip;

  filter->shift = 14;
  for (guint o = 0; o < key->n_out; o++, place += scale) {
    filter->first[o] = MIN ((guint) place, end_sample (key) - 1);
    self->counts[o] = 1;
    self->weights[o * self->stride].rounded = 1 << filter->shift;
  }
}

static gboolean
make (Entry *self, Most *most, Draft *draft, const SpdlFilterKey *key)
{
  const gboolean nearest = key->interpolation == SPDL_INTERPOLATION_NEAREST;
  const double scale = scale_of (key);
  const double support =
      nearest ? 0 : get_radius (key->interpolation) * MAX (scale, 1.0);
  SpdlFilter *filter = &self->filter;

  if (!draft_make_room (draft, key, support) ||
      !grow_to_most ((gpointer *) &filter->first, &self->n_first_allocated,
          &most->n_first, key->n_out + (SPDL_FILTER_STEP - 1), sizeof (guint)))
    return FALSE;
  filter->n_out = key->n_out;
  if (nearest) {
    draft_nearest (draft, filter, key);
  } else {
    draft_weights (draft, filter, key, scale, support);
    for (guint o = 0; o < key->n_out; o++)
      draft_round (draft, filter, o);
    draft_order (draft, filter);
  }
  find_source (filter, draft->counts);
  filter->n_pairs = 0;
  return make_weights (self, most, draft) &&
         (!key->quads || make_quads (self, most));
}

static gboolean
is_same (const SpdlFilterKey *a, const SpdlFilterKey *b)
{
  return a->interpolation == b->interpolation && a->n_in == b->n_in &&
         a->begin == b->begin && a->length == b->length && a->unit == b->unit &&
         a->crop == b->crop && a->doubled == b->doubled &&
         a->n_full == b->n_full && a->skip == b->skip && a->n_out == b->n_out &&
         a->max_value == b->max_value && a->quads == b->quads;
}

const SpdlFilter *
spdl_filters_get (SpdlFilters *self, const SpdlFilterKey *key)
{
  Entry *entry = self->entries;

  self->n_gets++;
  for (guint i = 0; i < SPDL_FILTERS_KEPT; i++) {
    Entry *other = self->entries + i;

    if (other->used && is_same (&other->key, key)) {
      other->used = self->n_gets;
      return &other->filter;
    }
    if (other->used < entry->used)
      entry = other;
  }
  entry->used = 0;
  if (!make (entry, &self->most, &self->draft, key))
    return NULL;
  entry->key = *key;
  entry->used = self->n_gets;
  return &entry->filter;
}
