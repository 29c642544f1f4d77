/* gst-spdl: filters for another rate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlsinc.h"

#include <math.h>

#include "spdldot.h"

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
bessel (double x)
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

  return sinc * bessel (BETA * sqrt (MAX (1 - w * w, 0)));
}

static void
make_phase (SpdlSinc *self, guint phase, double cutoff, double *taps)
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

void
spdl_sinc_init (
    SpdlSinc *self, gboolean has_doubles, guint in_rate, guint out_rate)
{
  const double ratio = MAX ((double) in_rate / out_rate, 1);
  const double cutoff =
      in_rate > out_rate ? CUTOFF * CUTOFF_DOWN / ratio : CUTOFF;
  const guint n = ceil (N_TAPS * ratio / SPDL_DOT_STEP);
  g_autofree double *taps = NULL;

  self->has_doubles = has_doubles;
  self->n_taps = n * SPDL_DOT_STEP;
  self->n_phases = out_rate;
  self->is_between = (guint64) out_rate * self->n_taps > MAX_FILTER;
  /* A filter that is drawn out has fewer turns between two samples. */
  if (self->is_between)
    self->n_phases = ceil (N_PHASES / ratio);
  self->taps = g_malloc_n ((gsize) (self->n_phases + 1) * self->n_taps,
      has_doubles ? sizeof (double) : sizeof (float));
  taps = g_new (double, self->n_taps);
  for (guint i = 0; i <= self->n_phases; i++)
    make_phase (self, i, cutoff, taps);
}

void
spdl_sinc_clear (SpdlSinc *self)
{
  g_clear_pointer (&self->taps, g_free);
}
