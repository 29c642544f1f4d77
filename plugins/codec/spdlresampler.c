/* gst-spdl: sound at another rate, from any sample on
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlresampler.h"

#include <string.h>

#include "spdldot.h"
#include "spdlsinc.h"

/* A filter takes longer to make than many sounds to resample. */
#define N_KEPT 4
/* Rates that are further apart have filters that are too long. */
#define MAX_RATIO 256

typedef struct {
  SpdlSinc sinc;
  guint in_rate, out_rate; /* without their common divisor; 0: there is none */
  guint64 used;            /* when: a running number */
} Kept;

struct _SpdlResampler {
  const SpdlDots *dots;
  Kept kept[N_KEPT];
  guint64 now;

  /* The sound in hand. */
  const SpdlSinc *sinc;
  guint in_rate, out_rate; /* likewise */
  guint n_channels;
  gsize size; /* of a sample */

  /* Each channel's samples that are still needed lie in a row of `room`. The
   * next result lies `phase` / out_rate behind the sample at `place` of them,
   * from which on its filter reaches. */
  guint8 *rows;
  gsize rows_size, room, n_held;
  guint64 place, phase;
  guint whole_step, rest_step; /* from one result to the next */

  guint8 *out;
  gsize out_size;
};

SpdlResampler *
spdl_resampler_new (void)
{
  SpdlResampler *self = g_new0 (SpdlResampler, 1);

  self->dots = spdl_dots_get ();
  return self;
}

void
spdl_resampler_free (SpdlResampler *self)
{
  for (guint i = 0; i < N_KEPT; i++)
    spdl_sinc_clear (&self->kept[i].sinc);
  g_free (self->rows);
  g_free (self->out);
  g_free (self);
}

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
static const SpdlSinc *
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
    spdl_sinc_clear (&found->sinc);
    spdl_sinc_init (&found->sinc, has_doubles, self->in_rate, self->out_rate);
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
  const gsize room = MAX (self->n_held + n, 2 * self->room);
  guint8 *rows;

  if (self->n_held + n <= self->room)
    return;
  rows = g_malloc_n (self->n_channels, room * self->size);
  for (guint c = 0; c < self->n_channels && self->n_held > 0; c++)
    memcpy (rows + c * room * self->size,
        self->rows + c * self->room * self->size, self->n_held * self->size);
  g_free (self->rows);
  self->rows = rows;
  self->rows_size = self->n_channels * room * self->size;
  self->room = room;
}

#define DEFINE_SPLIT(type)                                  \
  static void split_##type (                                \
      const type *in, guint n_channels, gsize n, type *row) \
  {                                                         \
    for (gsize i = 0; i < n; i++)                           \
      row[i] = in[i * n_channels];                          \
  }
DEFINE_SPLIT (float)
DEFINE_SPLIT (double)

/* @in: (nullable): silence */
static void
take_in (SpdlResampler *self, const guint8 *in, gsize n)
{
  make_room (self, n);
  for (guint c = 0; c < self->n_channels; c++) {
    guint8 *row = self->rows + (c * self->room + self->n_held) * self->size;
    const guint8 *from = in ? in + c * self->size : NULL;

    if (!in)
      memset (row, 0, n * self->size);
    else if (self->n_channels == 1)
      memcpy (row, in, n * self->size);
    else if (self->sinc->has_doubles)
      split_double ((const double *) from, self->n_channels, n, (double *) row);
    else
      split_float ((const float *) from, self->n_channels, n, (float *) row);
  }
  self->n_held += n;
}

/* What no result reaches any more goes. */
static void
let_go (SpdlResampler *self)
{
  const gsize n = MIN (self->place, self->n_held);

  for (guint c = 0; c < self->n_channels; c++) {
    guint8 *row = self->rows + c * self->room * self->size;

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

/* The sample of what comes in at or before sample @k of the result. */
static guint64
find_sample (const SpdlResampler *self, guint64 k, guint64 *phase)
{
  const guint64 rest = k % self->out_rate * self->in_rate;

  *phase = rest % self->out_rate;
  return k / self->out_rate * self->in_rate + rest / self->out_rate;
}

void
spdl_resampler_begin (SpdlResampler *self, GstAudioFormat format,
    guint n_channels, guint in_rate, guint out_rate, guint64 *from, guint64 *to)
{
  const gboolean has_doubles = format == GST_AUDIO_FORMAT_F64;
  guint64 reach, sample, phase;

  set_rates (self, in_rate, out_rate);
  self->sinc = get_sinc (self, has_doubles);
  self->size = has_doubles ? sizeof (double) : sizeof (float);
  self->n_channels = n_channels;
  self->room = self->rows_size / (n_channels * self->size);
  self->n_held = 0;
  self->place = 0;
  reach = self->sinc->n_taps / 2 - 1;
  sample = find_sample (self, *from, &self->phase);
  *from = sample - MIN (reach, sample);
  /* Before its beginning there is silence. */
  take_in (self, NULL, reach - MIN (reach, sample));
  if (*to != G_MAXUINT64 && *to > 0)
    *to = find_sample (self, *to - 1, &phase) + reach + 2;
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
#define DEFINE_MAKE(type, bits)                                            \
  static inline type make_##bits (                                         \
      const SpdlResampler *self, const type *row, guint64 phase)           \
  {                                                                        \
    const SpdlSinc *sinc = self->sinc;                                     \
    const type *taps = sinc->taps;                                         \
    const gsize n = sinc->n_taps;                                          \
    guint64 first, rest;                                                   \
    type before;                                                           \
                                                                           \
    if (!sinc->is_between)                                                 \
      return self->dots->bits (row, taps + phase * n, n);                  \
    first = phase * sinc->n_phases / self->out_rate;                       \
    rest = phase * sinc->n_phases % self->out_rate;                        \
    before = self->dots->bits (row, taps + first * n, n);                  \
    return before +                                                        \
           (self->dots->bits (row, taps + (first + 1) * n, n) - before) *  \
               rest / self->out_rate;                                      \
  }                                                                        \
                                                                           \
  static void make_all_##bits (SpdlResampler *self, type *out, gsize n)    \
  {                                                                        \
    const type *rows = (const type *) self->rows;                          \
    guint64 place = self->place, phase = self->phase;                      \
                                                                           \
    for (gsize i = 0; i < n; i++) {                                        \
      for (guint c = 0; c < self->n_channels; c++)                         \
        *out++ = make_##bits (self, rows + c * self->room + place, phase); \
      place += self->whole_step;                                           \
      phase += self->rest_step;                                            \
      if (phase >= self->out_rate) {                                       \
        phase -= self->out_rate;                                           \
        place++;                                                           \
      }                                                                    \
    }                                                                      \
    self->place = place;                                                   \
    self->phase = phase;                                                   \
  }
DEFINE_MAKE (float, f32)
DEFINE_MAKE (double, f64)

gsize
spdl_resampler_run (
    SpdlResampler *self, const void *in, gsize n, const guint8 **out)
{
  const gsize moment = self->n_channels * self->size;
  gsize n_out;

  take_in (self, in, n);
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
