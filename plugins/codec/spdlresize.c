/* gst-spdl: an antialiased bilinear resize, row by row
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlresize.h"

#include <math.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The loops over a whole row, which the compiler vectorises, are compiled for
 * AVX2 too, and chosen when the plugin is loaded: the same integers either way.
 * (ThreadSanitizer's runtime is not up yet at that time.) */
#if defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define ROW_LOOP __attribute__ ((target_clones ("avx2", "default")))
#else
#define ROW_LOOP
#endif

/* For each sample that comes out, which ones go in and with which weight. All
 * have the same number of taps, some of weight 0, so that the inner loops run
 * without a branch that depends on the place. */
typedef struct {
  guint n_in;
  guint n_out;
  guint n_taps;
  guint *first;   /* n_out */
  float *weights; /* n_out times n_taps; they add up to 1 */
} Filter;

typedef float Pixel __attribute__ ((vector_size (16)));
typedef gint32 Whole __attribute__ ((vector_size (16)));

struct _SpdlResize {
  Filter x;
  Filter y;
  Pixel *x_weights;   /* of x, divided by 256, one for each channel */
  guint16 *y_weights; /* of y, times 65536 */
  guint8 *window;     /* rows that went in, row y at y % window_rows */
  guint window_rows;
  gsize window_stride;
  guint16 *column_sums; /* a row, 4 values a pixel, times 256 */
  float *sums;          /* the same */
  gsize width_allocated;
  gsize window_allocated;

  guint next_out;
  guint8 *out;
  gsize out_stride;
};

static void
filter_clear (Filter *self)
{
  g_free (self->first);
  g_free (self->weights);
  memset (self, 0, sizeof *self);
}

/* The samples whose weight for output sample @o is not 0. */
static void
get_support (const Filter *self, guint o, gint *first, gint *end)
{
  const double scale = (double) self->n_in / self->n_out;
  const double support = MAX (scale, 1.0);
  const double center = (o + 0.5) * scale;

  *first = MAX ((gint) (center - support + 0.5), 0);
  *end = MIN ((gint) (center + support + 0.5), (gint) self->n_in);
}

static void
set_sample (Filter *self, guint o)
{
  const double scale = (double) self->n_in / self->n_out;
  const double support = MAX (scale, 1.0);
  const double center = (o + 0.5) * scale;
  float *weights = self->weights + (gsize) o * self->n_taps;
  double sum = 0;
  gint first, end;

  get_support (self, o, &first, &end);
  self->first[o] = MIN ((guint) first, self->n_in - self->n_taps);
  weights += first - (gint) self->first[o];
  for (gint i = first; i < end; i++) {
    const double w = 1.0 - fabs ((i + 0.5 - center) / support);

    weights[i - first] = MAX (w, 0.0);
    sum += weights[i - first];
  }
  for (gint i = 0; i < end - first; i++)
    weights[i] /= sum;
}

/* Returns whether the filter is another one than before. */
static gboolean
filter_set (Filter *self, guint n_in, guint n_out)
{
  if (self->n_in == n_in && self->n_out == n_out)
    return FALSE;

  filter_clear (self);
  self->n_in = n_in;
  self->n_out = n_out;
  for (guint o = 0; o < n_out; o++) {
    gint first, end;

    get_support (self, o, &first, &end);
    self->n_taps = MAX (self->n_taps, (guint) (end - first));
  }
  self->first = g_new (guint, n_out);
  self->weights = g_new0 (float, (gsize) n_out * self->n_taps);
  for (guint o = 0; o < n_out; o++)
    set_sample (self, o);
  return TRUE;
}

/* The weights of one sample in whole parts of 65536, which they add up to but
 * for a weight of 1, where 65535 must do. */
static void
round_weights (const float *weights, guint n, guint16 *rounded)
{
  gint left = 65536;
  guint largest = 0;

  for (guint i = 0; i < n; i++) {
    rounded[i] = MIN ((gint) lrintf (weights[i] * 65536), 65535);
    left -= rounded[i];
    if (rounded[i] > rounded[largest])
      largest = i;
  }
  rounded[largest] = CLAMP (rounded[largest] + left, 0, 65535);
}

static void
set_y_weights (SpdlResize *self)
{
  const Filter *y = &self->y;

  g_free (self->y_weights);
  self->y_weights = g_new0 (guint16, (gsize) y->n_out * y->n_taps);
  for (guint o = 0; o < y->n_out; o++) {
    const gsize at = (gsize) o * y->n_taps;

    round_weights (y->weights + at, y->n_taps, self->y_weights + at);
  }
}

static void
set_x_weights (SpdlResize *self)
{
  const gsize n = (gsize) self->x.n_out * self->x.n_taps;

  g_aligned_free (self->x_weights);
  self->x_weights = g_aligned_alloc (n, sizeof (Pixel), sizeof (Pixel));
  for (gsize i = 0; i < n; i++) {
    const float weight = self->x.weights[i] / 256;

    self->x_weights[i] = (Pixel){ weight, weight, weight, weight };
  }
}

SpdlResize *
spdl_resize_new (void)
{
  return g_new0 (SpdlResize, 1);
}

void
spdl_resize_free (SpdlResize *self)
{
  filter_clear (&self->x);
  filter_clear (&self->y);
  g_aligned_free (self->x_weights);
  g_free (self->y_weights);
  g_free (self->window);
  g_free (self->column_sums);
  g_aligned_free (self->sums);
  g_free (self);
}

static gboolean
make_room (SpdlResize *self, gsize width)
{
  const gsize window_size = self->window_stride * self->window_rows;

  if (width > self->width_allocated) {
    g_free (self->column_sums);
    g_aligned_free (self->sums);
    self->column_sums = g_new (guint16, width * 4);
    self->sums = g_aligned_alloc (width, sizeof (Pixel), sizeof (Pixel));
    self->width_allocated = width;
  }
  if (window_size > self->window_allocated) {
    g_free (self->window);
    self->window = g_try_malloc (window_size);
    self->window_allocated = self->window ? window_size : 0;
  }
  return self->window != NULL;
}

gboolean
spdl_resize_begin (SpdlResize *self, guint in_width, guint in_height,
    guint out_width, guint out_height, guint8 *out, gsize out_stride)
{
  if (filter_set (&self->x, in_width, out_width))
    set_x_weights (self);
  if (filter_set (&self->y, in_height, out_height))
    set_y_weights (self);
  self->window_rows = self->y.n_taps + SPDL_RESIZE_AHEAD;
  self->window_stride = (gsize) in_width * 4;
  self->next_out = 0;
  self->out = out;
  self->out_stride = out_stride;
  return make_room (self, in_width);
}

guint8 *
spdl_resize_get_row (SpdlResize *self, guint y)
{
  return self->window + (y % self->window_rows) * self->window_stride;
}

/* A value times 256, weighted: the upper half of a product of 16 bits. */
static inline guint16
weigh (guint8 value, guint16 weight)
{
  return ((guint32) (guint16) (value << 8) * weight) >> 16;
}

/* Begins sums with one row and @bias. */
ROW_LOOP static void
set_row (guint16 *restrict sums, const guint8 *restrict row, gsize n,
    guint16 weight, guint16 bias)
{
  for (gsize i = 0; i < n; i++)
    sums[i] = bias + weigh (row[i], weight);
}

/* Two rows at a time: half as often in and out of memory with the sums. */
ROW_LOOP static void
add_rows (guint16 *restrict sums, const guint8 *restrict a,
    const guint8 *restrict b, gsize n, guint16 weight_a, guint16 weight_b)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += weigh (a[i], weight_a) + weigh (b[i], weight_b);
}

ROW_LOOP static void
add_row (
    guint16 *restrict sums, const guint8 *restrict row, gsize n, guint16 weight)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += weigh (row[i], weight);
}

ROW_LOOP static void
to_float (float *restrict out, const guint16 *restrict in, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = in[i];
}

ROW_LOOP static void
add_row_float (
    float *restrict sums, const guint8 *restrict row, gsize n, float weight)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += row[i] * weight;
}

/* Sums in whole numbers lose half of their last bit with each tap: with many
 * taps, of an image that shrinks to almost nothing, too much. */
#define MAX_WHOLE_TAPS 32

static void
sum_columns_float (SpdlResize *self, guint o)
{
  const gsize n = (gsize) self->x.n_in * 4;
  const float *weights = self->y.weights + (gsize) o * self->y.n_taps;

  memset (self->sums, 0, n * sizeof (float));
  for (guint i = 0; i < self->y.n_taps; i++)
    add_row_float (self->sums, spdl_resize_get_row (self, self->y.first[o] + i),
        n, weights[i] * 256);
}

static void
sum_columns (SpdlResize *self, guint o)
{
  const gsize n = (gsize) self->x.n_in * 4;
  const guint first = self->y.first[o];
  const guint16 *weights = self->y_weights + (gsize) o * self->y.n_taps;
  guint end = self->y.n_taps;
  guint i = 1;

  while (end > 1 && weights[end - 1] == 0)
    end--;
  /* Each product is rounded down, by half of the last bit on average. */
  set_row (self->column_sums, spdl_resize_get_row (self, first), n, weights[0],
      end / 2);
  for (; i + 1 < end; i += 2)
    add_rows (self->column_sums, spdl_resize_get_row (self, first + i),
        spdl_resize_get_row (self, first + i + 1), n, weights[i],
        weights[i + 1]);
  if (i < end)
    add_row (self->column_sums, spdl_resize_get_row (self, first + i), n,
        weights[i]);
  to_float (self->sums, self->column_sums, n);
}

/* Rounds a pixel to four bytes, and saturates. */
static inline guint32
pack (Pixel pixel)
{
  const Pixel half = pixel + 0.5f;
#ifdef __SSE2__
  const __m128i whole = _mm_cvttps_epi32 ((__m128) half);
  const __m128i words = _mm_packs_epi32 (whole, whole);

  return _mm_cvtsi128_si32 (_mm_packus_epi16 (words, words));
#else
  const Whole whole = __builtin_convertvector(half, Whole);
  const guint8 bytes[4] = { MIN (whole[0], 255), MIN (whole[1], 255),
    MIN (whole[2], 255), 0 };
  guint32 packed;

  memcpy (&packed, bytes, sizeof packed);
  return packed;
#endif
}

static inline __attribute__ ((always_inline)) void
shrink (guint8 *restrict out, const Pixel *restrict in,
    const guint *restrict first, const Pixel *restrict weights, guint n_out,
    guint n_taps)
{
  for (guint o = 0; o < n_out; o++) {
    const Pixel *pixels = in + first[o];
    Pixel sum = pixels[0] * weights[0];

    for (guint i = 1; i < n_taps; i++)
      sum += pixels[i] * weights[i];
    weights += n_taps;
    const guint32 packed = pack (sum);
    /* The fourth byte is the next pixel's, but for the last one. */
    memcpy (out, &packed, o + 1 < n_out ? 4 : 3);
    out += 3;
  }
}

static void
shrink_row (const SpdlResize *self, guint8 *out)
{
  const Pixel *in = (const Pixel *) self->sums;
  const guint n_out = self->x.n_out;

  switch (self->x.n_taps) {
#define CASE(n)                                                 \
  case n:                                                       \
    shrink (out, in, self->x.first, self->x_weights, n_out, n); \
    break;
    CASE (2)
    CASE (3)
    CASE (4)
    CASE (5)
    CASE (6)
    CASE (7)
    CASE (8)
#undef CASE
    default:
      shrink (out, in, self->x.first, self->x_weights, n_out, self->x.n_taps);
      break;
  }
}

void
spdl_resize_rows_done (SpdlResize *self, guint y_end)
{
  const Filter *y = &self->y;

  while (self->next_out < y->n_out &&
         y->first[self->next_out] + y->n_taps <= y_end) {
    if (y->n_taps <= MAX_WHOLE_TAPS)
      sum_columns (self, self->next_out);
    else
      sum_columns_float (self, self->next_out);
    shrink_row (self, self->out + self->next_out * self->out_stride);
    self->next_out++;
  }
}
