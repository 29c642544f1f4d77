/* gst-spdl: resampling of audio, from any sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audioresampler.h"

#include <math.h>
#include <string.h>

/* What the lengths of filters are multiples of. */
#define STEP 8
/* A vector of weights then lies in one line of the cache. */
#define ALIGNMENT 64

/* The sum of the products of @n samples and weights, at any address. */
typedef struct {
  float (*f32) (const float *a, const float *b, gsize n);
  double (*f64) (const double *a, const double *b, gsize n);
} Dots;

/* The compiler's own vectors, which are as large as the CPU's: larger ones it
 * makes badly. Two sums, so that one need not wait for the other. */
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

/* The best for this CPU. */
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

/* A sinc in a Kaiser window: 48 samples of the lower rate, and 80 dB less
 * beyond its half, as GStreamer's quality 3. The weights of a phase add up to
 * one. */
typedef struct {
  guint n_taps;        /* even */
  guint n_phases;      /* between two samples of what comes in */
  gboolean is_between; /* a place lies between phases, and takes from both */
  gboolean has_doubles;
  gpointer taps; /* of each phase, and of one more */
} Sinc;

/* In samples of the lower rate; where the sinc is cut off, as a share of that
 * rate's half; and how much more of it is left where the rate falls. */
#define N_TAPS 48
#define CUTOFF 0.92
#define CUTOFF_DOWN 0.976
/* 0.1102 (80 dB - 8.7) */
#define BETA 7.857
/* Filters with more numbers are not made in full: what lies between two of so
 * many phases is put together from both, with an error of less than -110 dB. */
#define MAX_FILTER (1 << 17)
#define N_PHASES 1024

/* I0, as its series. */
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

/* @x: in samples of what comes in, from the middle */
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

/* @in_rate, @out_rate: without a common divisor */
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
  /* A filter that is drawn out has fewer turns between two samples. */
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

/* A filter takes longer to make than many sounds to resample. */
#define N_KEPT 4
/* Rates that are further apart have filters that are too long. */
#define MAX_RATIO 256

typedef struct {
  Sinc sinc;
  guint in_rate, out_rate; /* without their common divisor; 0: there is none */
  guint64 used;            /* when: a running number */
} Kept;

struct _SpdlResampler {
  const Dots *dots;
  Kept kept[N_KEPT];
  guint64 now;

  /* The sound in hand. */
  const Sinc *sinc;
  guint in_rate, out_rate; /* likewise */
  guint n_channels;
  gsize size; /* of a sample */

  /* Each channel's samples that are still needed lie in a row of `room`. The
   * next result lies `phase` / out_rate behind the sample at `place` of them,
   * from which on its filter reaches. */
  guint8 *rows;
  gsize rows_size, capacity, n_held;
  guint64 place, phase;
  guint whole_step, rest_step; /* from one result to the next */

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

/* The filter of these rates; a new one stands in for the oldest. */
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

/* Room for @n more behind those that are held. */
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

/* @planes: (nullable): silence */
static void
take_in (SpdlResampler *self, const guint8 *const *planes, gsize n)
{
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

/* What no result reaches any more goes. */
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

/* Beginning */

static void
set_rates (SpdlResampler *self, guint in_rate, guint out_rate)
{
  const guint divisor = gst_util_greatest_common_divisor (in_rate, out_rate);

  self->in_rate = in_rate / divisor;
  self->out_rate = out_rate / divisor;
  self->whole_step = self->in_rate / self->out_rate;
  self->rest_step = self->in_rate % self->out_rate;
}

/* The sample of what comes in at or before sample @k of the result. The rates
 * are without a common divisor. */
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
  /* Before its beginning there is silence. */
  take_in (self, NULL, reach - MIN (reach, sample));
  if (*to != G_MAXUINT64 && *to > 0)
    *to = find_sample (*to - 1, self->in_rate, self->out_rate, &phase) + reach +
          2;
}

/* Running */

/* How many results what is held is enough for. */
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

/* The sample of one channel that lies @phase behind where @row begins. A phase
 * of a filter in full is that of the rate; else the place lies between two. */
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
