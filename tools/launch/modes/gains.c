/* gst-spdl-launch: estimate of the gain from faster loading
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/gains.h"

#include "tools/launch/run/snapshot.h"

#include <string.h>

static gint
compare_gains (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static Spread
spread_of (const double *values, guint n)
{
  g_autofree double *sorted = g_memdup2 (values, n * sizeof *values);

  qsort (sorted, n, sizeof *sorted, compare_gains);
  return (Spread){ (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[0],
    sorted[n - 1] };
}

static double
gain_of (double base, double cached)
{
  return base > 0 ? (base - cached) / base : 0;
}

void
gains_init (Gains *self, const double *base, const double *cached, guint n)
{
  g_autofree double *gains = g_new (double, n);
  Spread spread;

  for (guint i = 0; i < n; i++)
    gains[i] = gain_of (base[i], cached[i]);
  spread = spread_of (gains, n);
  self->n_rounds = n;
  self->base = spread_of (base, n);
  self->cached = spread_of (cached, n);
  self->headspace = gain_of (self->base.median, self->cached.median);
  self->least = MIN (spread.least, self->headspace);
  self->most = MAX (spread.most, self->headspace);
}

static const gchar *
advice_for (double gain)
{
  return gain < GAINS_NONE        ? "stop"
         : gain <= GAINS_WORTH_IT ? "small"
                                  : "worth-it";
}

const gchar *
gains_get_advice (const Gains *self)
{
  return advice_for (self->headspace);
}

gboolean
gains_agree (const Gains *self)
{
  return g_str_equal (advice_for (self->least), advice_for (self->most));
}

static const gchar *
put_into_words (const gchar *advice)
{
  if (g_str_equal (advice, "stop"))
    return "stop here, loading is not the bottleneck";
  if (g_str_equal (advice, "small"))
    return "little, optimize other parts first";
  return "loading is worth optimizing";
}

static void
append_time (GString *text, const Spread *spread)
{
  g_autofree gchar *median = format_ns (spread->median * 1e9);
  g_autofree gchar *least = format_ns (spread->least * 1e9);
  g_autofree gchar *most = format_ns (spread->most * 1e9);

  g_string_append_printf (text, "%s (%s to %s)", median, least, most);
}

gchar *
gains_describe (const Gains *self)
{
  GString *text = g_string_new ("a batch takes ");

  append_time (text, &self->base);
  g_string_append (text, " with loading and ");
  append_time (text, &self->cached);
  g_string_append_printf (text,
      " from the cache, so perfect loading would save %.1f %% (%.1f to %.1f) "
      "of the time: %s",
      self->headspace * 100, self->least * 100, self->most * 100,
      put_into_words (gains_get_advice (self)));
  if (self->n_rounds > 1 && !gains_agree (self))
    g_string_append (text,
        "; but the rounds disagree: use more --rounds or a longer --duration");
  return g_string_free (text, FALSE);
}
