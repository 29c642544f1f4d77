/* gst-spdl: audio resampler with random access
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audioresampler.h"

#include <math.h>
#include <string.h>

/* Filter lengths are multiples of this. */
#define STEP 8
/* Aligns vectors of weights to cache lines. */
#define ALIGNMENT 64

/* Dot product of @n samples and weights, without alignment. */
typedef struct {
  float (*f32) (const float *a, const float *b, gsize n);
  double (*f64) (const double *a, const double *b, gsize n);
} Dots;

/* Uses the compiler's vector extension, with vectors of the CPU's width: GCC
 * generates poor code for wider ones. Two sums hide the latency of the
 * additions. */
#define DEFINE_DOT(name, type, bytes, attribute)                            \
  typedef type Vec_##name                                                   \
      __attribute__ ((vector_size (bytes), aligned (sizeof (type))));       \
                                                                            \
  attribute static type name (const type *a, const type *b, gsize n)        \
  {                                                                         \
    const gsize width = bytes / sizeof (type);                              \
    Vec_##name sum = { 0 }, other = { 0 };                                  \
    type all = 0;                                                           \
    gsize i = 0;                                                            \
                                                                            \
    for (; i + 2 * width <= n; i += 2 * width) {                            \
      sum += *(const Vec_##name *) (a + i) * *(const Vec_##name *) (b + i); \
      other += *(const Vec_##name *) (a + i + width) *                      \
               *(const Vec_##name *) (b + i + width);                       \
    }                                                                       \
    if (i < n)                                                              \
      sum += *(const Vec_##name *) (a + i) * *(const Vec_##name *) (b + i); \
    sum += other;                                                           \
    for (gsize k = 0; k < width; k++)                                       \
      all += sum[k];                                                        \
    return all;                                                             \
  }

#define PLAIN
DEFINE_DOT (dot_f32, float, 16, PLAIN)
DEFINE_DOT (dot_f64, double, 16, PLAIN)
static const Dots dots_plain = { dot_f32, dot_f64 };

#if defined(__x86_64__) || defined(__i386__)
#define FMA __attribute__ ((target ("avx2,fma")))
DEFINE_DOT (dot_f32_fma, float, 32, FMA)
DEFINE_DOT (dot_f64_fma, double, 32, FMA)
static const Dots dots_fma = { dot_f32_fma, dot_f64_fma };
#endif

/* Returns the functions for this CPU. */
static const Dots *
get_dots (void)
{
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    return &dots_fma;
#endif
  return &dots_plain;
}

/* Filters */

/* Windowed sinc filter (Kaiser window) with 48 taps at the lower rate and 80 dB
 * of stopband attenuation, like quality 3 of GStreamer's resampler. The weights
 * of each phase add up to one. */
typedef struct {
  guint n_taps;        /* even */
  guint n_phases;      /* phases between two input samples */
  gboolean is_between; /* interpolate between two phases */
  gboolean has_doubles;
  gpointer taps; /* n_taps for each phase, and for one more phase */
} Sinc;

/* Number of taps at the lower rate; cutoff relative to the Nyquist frequency of
 * that rate; and an additional factor for downsampling. */
#define N_TAPS 48
#define CUTOFF 0.92
#define CUTOFF_DOWN 0.976
/* 0.1102 (80 dB - 8.7) */
#define BETA 7.857
/* For larger filters, only this number of phases is computed. Weights between
 * two phases are interpolated, with an error below -110 dB. */
#define MAX_FILTER (1 << 17)
#define N_PHASES 1024

/* Modified Bessel function I0, by its power series. */
static double
bessel_i0 (double x)
{
  double term = 1, sum = 1;

  for (guint i = 1; term > sum * 1e-12; i++) {
    term *= x * x / (4.0 * i * i);
    sum += term;
  }
  return sum;
}

/* @x: distance from the center, in input samples */
static double
get_tap (double x, guint n_taps, double cutoff)
{
  const double y = G_PI * x, w = 2 * x / n_taps;
  const double sinc = x == 0 ? cutoff : sin (y * cutoff) / y;

  return sinc * bessel_i0 (BETA * sqrt (MAX (1 - w * w, 0)));
}

static void
make_phase (Sinc *self, guint phase, double cutoff, double *taps)
{
  const guint n = self->n_taps;
  const gsize at = (gsize) phase * n;
  const double from = 1.0 - n / 2 - (double) phase / self->n_phases;
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += taps[i] = get_tap (from + i, n, cutoff);
  for (guint i = 0; i < n; i++) {
    if (self->has_doubles)
      ((double *) self->taps)[at + i] = taps[i] / sum;
    else
      ((float *) self->taps)[at + i] = taps[i] / sum;
  }
}

static guint
count_taps (guint in_rate, guint out_rate)
{
  const double ratio = MAX ((double) in_rate / out_rate, 1);

  return (guint) ceil (N_TAPS * ratio / STEP) * STEP;
}

/* @in_rate, @out_rate: reduced to lowest terms */
static void
sinc_init (Sinc *self, gboolean has_doubles, guint in_rate, guint out_rate)
{
  const double ratio = MAX ((double) in_rate / out_rate, 1);
  const double cutoff =
      in_rate > out_rate ? CUTOFF * CUTOFF_DOWN / ratio : CUTOFF;
  g_autofree double *taps = NULL;

  self->has_doubles = has_doubles;
  self->n_taps = count_taps (in_rate, out_rate);
  self->n_phases = out_rate;
  self->is_between = (guint64) out_rate * self->n_taps > MAX_FILTER;
  /* A filter that is stretched for downsampling varies more slowly between two
   * input samples, so fewer phases suffice. */
  if (self->is_between)
    self->n_phases = ceil (N_PHASES / ratio);
  self->taps = g_aligned_alloc ((gsize) (self->n_phases + 1) * self->n_taps,
      has_doubles ? sizeof (double) : sizeof (float), ALIGNMENT);
  taps = g_new (double, self->n_taps);
  for (guint i = 0; i <= self->n_phases; i++)
    make_phase (self, i, cutoff, taps);
}

static void
sinc_clear (Sinc *self)
{
  g_clear_pointer (&self->taps, g_aligned_free);
}

/* Number of cached filters. Computing a filter takes longer than resampling
 * many short files. */
#define N_KEPT 4
/* Maximum ratio of rates. Filters for larger ratios would be too long. */
#define MAX_RATIO 256

typedef struct {
  Sinc sinc;
  guint in_rate, out_rate; /* in lowest terms; 0: unused */
  guint64 used;            /* value of `now` at the last use */
} Kept;

struct _SpdlResampler {
  const Dots *dots;
  Kept kept[N_KEPT];
  guint64 now;

  /* The current stream. */
  const Sinc *sinc;
  guint in_rate, out_rate; /* in lowest terms */
  guint n_channels;
  gsize size; /* of a sample, in bytes */

  /* Input samples that are still needed, a row of `capacity` samples per
   * channel. The filter of the next output sample starts at input sample
   * `place`, and its phase is `phase` / out_rate. */
  guint8 *rows;
  gsize rows_size, capacity, n_held;
  guint64 place, phase;
  guint whole_step, rest_step; /* from one output sample to the next */

  guint8 *out;
  gsize out_size;
};

SpdlResampler *
spdl_resampler_new (void)
{
  SpdlResampler *self = g_new0 (SpdlResampler, 1);

  self->dots = get_dots ();
  return self;
}

void
spdl_resampler_free (SpdlResampler *self)
{
  for (guint i = 0; i < N_KEPT; i++)
    sinc_clear (&self->kept[i].sinc);
  g_free (self->rows);
  g_free (self->out);
  g_free (self);
}

/* Rates */

guint64
spdl_resampler_scale (guint64 n, guint in_rate, guint out_rate)
{
  return n == G_MAXUINT64 ? n
                          : gst_util_uint64_scale_ceil (n, out_rate, in_rate);
}

gboolean
spdl_resampler_can (guint in_rate, guint out_rate)
{
  return in_rate / MAX_RATIO <= out_rate && out_rate / MAX_RATIO <= in_rate;
}

/* Returns the filter for the current rates. A new filter replaces the least
 * recently used one. */
static const Sinc *
get_sinc (SpdlResampler *self, gboolean has_doubles)
{
  Kept *found = &self->kept[0];

  for (guint i = 0; i < N_KEPT; i++) {
    Kept *kept = &self->kept[i];

    if (kept->in_rate == self->in_rate && kept->out_rate == self->out_rate &&
        kept->sinc.has_doubles == has_doubles) {
      found = kept;
      break;
    }
    if (kept->used < found->used)
      found = kept;
  }
  if (found->in_rate != self->in_rate || found->out_rate != self->out_rate ||
      found->sinc.has_doubles != has_doubles) {
    sinc_clear (&found->sinc);
    sinc_init (&found->sinc, has_doubles, self->in_rate, self->out_rate);
    found->in_rate = self->in_rate;
    found->out_rate = self->out_rate;
  }
  found->used = ++self->now;
  return &found->sinc;
}

/* Samples */

/* Makes room for @n more samples after the held ones. */
static void
make_room (SpdlResampler *self, gsize n)
{
  const gsize capacity = MAX (self->n_held + n, 2 * self->capacity);
  guint8 *rows;

  if (self->n_held + n <= self->capacity)
    return;
  rows = g_malloc_n (self->n_channels, capacity * self->size);
  for (guint c = 0; c < self->n_channels && self->n_held > 0; c++)
    memcpy (rows + c * capacity * self->size,
        self->rows + c * self->capacity * self->size,
        self->n_held * self->size);
  g_free (self->rows);
  self->rows = rows;
  self->rows_size = self->n_channels * capacity * self->size;
  self->capacity = capacity;
}

/* @planes: (nullable): NULL: silence */
static void
take_in (SpdlResampler *self, const guint8 *const *planes, gsize n)
{
  if (n == 0)
    return;
  make_room (self, n);
  for (guint c = 0; c < self->n_channels; c++) {
    guint8 *row = self->rows + (c * self->capacity + self->n_held) * self->size;

    if (planes)
      memcpy (row, planes[c], n * self->size);
    else
      memset (row, 0, n * self->size);
  }
  self->n_held += n;
}

/* Drops samples that no further output needs. */
static void
let_go (SpdlResampler *self)
{
  const gsize n = MIN (self->place, self->n_held);

  for (guint c = 0; c < self->n_channels; c++) {
    guint8 *row = self->rows + c * self->capacity * self->size;

    memmove (row, row + n * self->size, (self->n_held - n) * self->size);
  }
  self->n_held -= n;
  self->place -= n;
}

/* Start of a stream */

static void
set_rates (SpdlResampler *self, guint in_rate, guint out_rate)
{
  const guint divisor = gst_util_greatest_common_divisor (in_rate, out_rate);

  self->in_rate = in_rate / divisor;
  self->out_rate = out_rate / divisor;
  self->whole_step = self->in_rate / self->out_rate;
  self->rest_step = self->in_rate % self->out_rate;
}

/* Returns the input sample at or before output sample @k. The rates are in
 * lowest terms. */
static guint64
find_sample (guint64 k, guint in_rate, guint out_rate, guint64 *phase)
{
  const guint64 rest = k % out_rate * in_rate;

  *phase = rest % out_rate;
  return k / out_rate * in_rate + rest / out_rate;
}

guint64
spdl_resampler_find_start (guint64 from, guint in_rate, guint out_rate)
{
  const guint divisor = gst_util_greatest_common_divisor (in_rate, out_rate);
  const guint64 reach = count_taps (in_rate, out_rate) / 2 - 1;
  guint64 phase;
  const guint64 sample =
      find_sample (from, in_rate / divisor, out_rate / divisor, &phase);

  return sample - MIN (reach, sample);
}

void
spdl_resampler_begin (SpdlResampler *self, gboolean has_doubles,
    guint n_channels, guint in_rate, guint out_rate, guint64 *from, guint64 *to)
{
  guint64 reach, sample, phase;

  set_rates (self, in_rate, out_rate);
  self->sinc = get_sinc (self, has_doubles);
  self->size = has_doubles ? sizeof (double) : sizeof (float);
  self->n_channels = n_channels;
  self->capacity = self->rows_size / (n_channels * self->size);
  self->n_held = 0;
  self->place = 0;
  reach = self->sinc->n_taps / 2 - 1;
  sample = find_sample (*from, self->in_rate, self->out_rate, &self->phase);
  *from = sample - MIN (reach, sample);
  /* The input is preceded by silence. */
  take_in (self, NULL, reach - MIN (reach, sample));
  if (*to != G_MAXUINT64 && *to > 0)
    *to = find_sample (*to - 1, self->in_rate, self->out_rate, &phase) + reach +
          2;
}

/* Resampling */

/* Returns how many output samples the held input suffices for. */
static gsize
count_out (const SpdlResampler *self)
{
  const guint64 reach = self->place + self->sinc->n_taps;

  if (self->n_held < reach)
    return 0;
  return ((self->n_held - reach + 1) * self->out_rate - self->phase +
             self->in_rate - 1) /
         self->in_rate;
}

/* Computes an output sample of one channel. @row: first sample that the filter
 * covers. With a filter of all phases, @phase selects one; otherwise the result
 * is interpolated between two phases. */
#define DEFINE_MAKE(type, bits)                                                \
  static inline type make_##bits (                                             \
      const SpdlResampler *self, const type *row, guint64 phase)               \
  {                                                                            \
    const Sinc *sinc = self->sinc;                                             \
    const type *taps = sinc->taps;                                             \
    const gsize n = sinc->n_taps;                                              \
    guint64 first, rest;                                                       \
    type before;                                                               \
                                                                               \
    if (!sinc->is_between)                                                     \
      return self->dots->bits (row, taps + phase * n, n);                      \
    first = phase * sinc->n_phases / self->out_rate;                           \
    rest = phase * sinc->n_phases % self->out_rate;                            \
    before = self->dots->bits (row, taps + first * n, n);                      \
    return before +                                                            \
           (self->dots->bits (row, taps + (first + 1) * n, n) - before) *      \
               rest / self->out_rate;                                          \
  }                                                                            \
                                                                               \
  static void make_all_##bits (SpdlResampler *self, type *out, gsize n)        \
  {                                                                            \
    const type *rows = (const type *) self->rows;                              \
    guint64 place = self->place, phase = self->phase;                          \
                                                                               \
    for (gsize i = 0; i < n; i++) {                                            \
      for (guint c = 0; c < self->n_channels; c++)                             \
        *out++ = make_##bits (self, rows + c * self->capacity + place, phase); \
      place += self->whole_step;                                               \
      phase += self->rest_step;                                                \
      if (phase >= self->out_rate) {                                           \
        phase -= self->out_rate;                                               \
        place++;                                                               \
      }                                                                        \
    }                                                                          \
    self->place = place;                                                       \
    self->phase = phase;                                                       \
  }
DEFINE_MAKE (float, f32)
DEFINE_MAKE (double, f64)

gsize
spdl_resampler_run (SpdlResampler *self, const guint8 *const *planes, gsize n,
    const guint8 **out)
{
  const gsize moment = self->n_channels * self->size;
  gsize n_out;

  take_in (self, planes, n);
  n_out = count_out (self);
  if (n_out * moment > self->out_size) {
    g_free (self->out);
    self->out = g_malloc (self->out_size = n_out * moment);
  }
  if (self->sinc->has_doubles)
    make_all_f64 (self, (double *) self->out, n_out);
  else
    make_all_f32 (self, (float *) self->out, n_out);
  let_go (self);
  *out = self->out;
  return n_out;
}

gsize
spdl_resampler_get_tail (const SpdlResampler *self)
{
  return self->sinc->n_taps / 2;
}
