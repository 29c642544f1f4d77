/* gst-spdl: tests of the histogram
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
test_empty_and_single (void)
{
  SpdlHistogram *h = g_new0 (SpdlHistogram, 1);

  g_assert_cmpuint (spdl_histogram_mean (h), ==, 0);
  g_assert_cmpuint (spdl_histogram_quantile (h, 0.99), ==, 0);
  spdl_histogram_add (h, 123456789);
  g_assert_cmpuint (spdl_histogram_mean (h), ==, 123456789);
  g_assert_cmpuint (spdl_histogram_quantile (h, 0.0), ==, 123456789);
  g_assert_cmpuint (spdl_histogram_quantile (h, 0.5), ==, 123456789);
  g_assert_cmpuint (spdl_histogram_quantile (h, 1.0), ==, 123456789);
  g_free (h);
}

/* Each value is in the same bucket as the value below, or in the next one. */
static void
test_buckets (void)
{
  guint last = 0;

  for (guint64 v = 0; v < 1 << 20; v++) {
    const guint bucket = spdl_histogram_bucket_of (v);

    g_assert_true (bucket == last || bucket == last + 1);
    last = bucket;
  }
  g_assert_cmpuint (
      spdl_histogram_bucket_of ((G_GUINT64_CONSTANT (1) << 42) - 1), ==,
      SPDL_HISTOGRAM_N_BUCKETS - 1);
  g_assert_cmpuint (
      spdl_histogram_bucket_of (G_MAXUINT64), ==, SPDL_HISTOGRAM_N_BUCKETS - 1);
}

static int
compare (const void *a, const void *b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

static guint64
draw (GRand *rand, guint kind)
{
  switch (kind) {
    case 0:
      return g_rand_int_range (rand, 0, 1000000);
    case 1: /* exponential, like waiting times */
      return -log (1 - g_rand_double (rand)) * 2e6;
    case 2: /* heavy tail */
      return pow (1 - g_rand_double (rand), -1.5) * 1000;
    default: /* two distant peaks */
      return g_rand_boolean (rand) ? 500 : 80000000;
  }
}

/* The error is within the documented bound, 1/64 of the value. */
static void
test_error (gconstpointer data)
{
  static const double quantiles[] = { 0.01, 0.5, 0.9, 0.99, 0.999 };
  const guint n = 100000;
  SpdlHistogram *h = g_new0 (SpdlHistogram, 1);
  guint64 *values = g_new (guint64, n), sum = 0;
  GRand *rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < n; i++) {
    values[i] = draw (rand, GPOINTER_TO_UINT (data));
    sum += values[i];
    spdl_histogram_add (h, values[i]);
  }
  qsort (values, n, sizeof *values, compare);
  g_assert_cmpuint (spdl_histogram_mean (h), ==, sum / n);
  g_assert_cmpuint (h->min, ==, values[0]);
  g_assert_cmpuint (h->max, ==, values[n - 1]);
  for (guint q = 0; q < G_N_ELEMENTS (quantiles); q++) {
    const double exact = values[(guint) ceil (quantiles[q] * n) - 1];
    const double got = spdl_histogram_quantile (h, quantiles[q]);

    g_assert_cmpfloat (fabs (got - exact), <=, exact / 64);
  }
  g_rand_free (rand);
  g_free (values);
  g_free (h);
}

static void
test_merge (void)
{
  SpdlHistogram *a = g_new0 (SpdlHistogram, 1);
  SpdlHistogram *b = g_new0 (SpdlHistogram, 1);
  SpdlHistogram *all = g_new0 (SpdlHistogram, 1);
  SpdlHistogram *empty = g_new0 (SpdlHistogram, 1);
  GRand *rand = g_rand_new_with_seed (6);

  for (guint i = 0; i < 1000; i++) {
    const guint64 value = draw (rand, 1);

    spdl_histogram_add (i % 3 ? a : b, value);
    spdl_histogram_add (all, value);
  }
  spdl_histogram_merge (empty, a);
  spdl_histogram_merge (empty, b);
  g_assert_cmpmem (empty, sizeof *empty, all, sizeof *all);
  memset (b, 0, sizeof *b); /* merging an empty histogram has no effect */
  spdl_histogram_merge (all, b);
  g_assert_cmpmem (empty, sizeof *empty, all, sizeof *all);
  g_rand_free (rand);
  g_free (a);
  g_free (b);
  g_free (all);
  g_free (empty);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/histogram/empty-and-single", test_empty_and_single);
  g_test_add_func ("/histogram/buckets", test_buckets);
  for (guint i = 0; i < 4; i++) {
    g_autofree gchar *name = g_strdup_printf ("/histogram/error/%u", i);

    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_error);
  }
  g_test_add_func ("/histogram/merge", test_merge);
  return g_test_run ();
}
