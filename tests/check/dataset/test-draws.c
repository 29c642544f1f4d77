/* gst-spdl: tests of weighted sampling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "gst/spdl/engine/random.h"
#include "plugins/dataset/list/line.h"
#include "plugins/dataset/sampler/weightedsampler.h"

#define N_DRAWS 1000000
/* Among some tens of values, one beyond this limit occurs by chance in a
 * thousandth of the runs. */
#define LIMIT 4.2

static SpdlWeightedSampler *
make_alias (const double *weights, guint n)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (double));

  g_array_append_vals (array, weights, n);
  return spdl_weighted_sampler_new (array);
}

static void
count_draws (const SpdlWeightedSampler *weighted_sampler, guint64 seed,
    guint64 epoch, guint *counts)
{
  SpdlDraws draws;

  spdl_draws_init (&draws, seed, epoch);
  for (guint place = 0; place < N_DRAWS; place++)
    counts[spdl_weighted_sampler_get_item (
        weighted_sampler, spdl_draws_get_number (&draws, place))]++;
}

/* Returns a statistic with approximately the standard normal distribution if
 * the draws follow @weights. */
static double
judge (const double *weights, const guint *counts, guint n)
{
  double sum = 0, chi = 0;
  guint freedom = 0;

  for (guint i = 0; i < n; i++)
    sum += weights[i];
  for (guint i = 0; i < n; i++) {
    const double wanted = weights[i] / sum * N_DRAWS;

    if (wanted == 0)
      g_assert_cmpuint (counts[i], ==, 0);
    else
      chi += (counts[i] - wanted) * (counts[i] - wanted) / wanted;
    freedom += wanted > 0;
  }
  if (--freedom == 0)
    return chi;
  const double v = 2.0 / (9.0 * freedom);
  return (cbrt (chi / freedom) - (1 - v)) / sqrt (v);
}

typedef double (*Weigh) (guint i, guint n);

static double
weigh_equally (guint i, guint n)
{
  return 0.1;
}

static double
weigh_in_steps (guint i, guint n)
{
  return 1 + i;
}

static double
weigh_some (guint i, guint n)
{
  return i % 3 == 1 ? 0 : i % 5 + 0.3;
}

/* One item has half of the total weight. */
static double
weigh_one (guint i, guint n)
{
  return i == n / 2 ? MAX (n - 1, 1) : 1;
}

/* Weights over many powers of ten, unsorted. */
static double
weigh_widely (guint i, guint n)
{
  return 1e-200 * exp (i * 7919 % n * 6.0 / n);
}

static void
test_shares (void)
{
  static const Weigh kinds[] = { weigh_equally, weigh_in_steps, weigh_some,
    weigh_one, weigh_widely };
  static const guint sizes[] = { 1, 2, 7, 100, 5000 };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      const guint n = sizes[s];
      g_autofree double *weights = g_new (double, n);
      g_autofree guint *counts = g_new0 (guint, n);
      g_autofree guint *others = g_new0 (guint, n);
      SpdlWeightedSampler *weighted_sampler;

      for (guint i = 0; i < n; i++)
        weights[i] = kinds[k](i, n);
      weighted_sampler = make_alias (weights, n);
      g_assert_cmpuint (
          spdl_weighted_sampler_get_size (weighted_sampler), ==, n);
      count_draws (weighted_sampler, 1, 2, counts);
      count_draws (weighted_sampler, 1, 3, others);
      g_test_message ("kind %u of %u: %.2f %.2f", k, n,
          judge (weights, counts, n), judge (weights, others, n));
      g_assert_cmpfloat (fabs (judge (weights, counts, n)), <, LIMIT);
      g_assert_cmpfloat (fabs (judge (weights, others, n)), <, LIMIT);
      spdl_weighted_sampler_free (weighted_sampler);
    }
  }
}

/* Tests that the statistic detects slightly wrong weights. */
static void
test_judge (void)
{
  double weights[7] = { 1, 2, 3, 4, 5, 6, 7 };
  guint counts[7] = { 0 };
  SpdlWeightedSampler *weighted_sampler = make_alias (weights, 7);

  count_draws (weighted_sampler, 1, 2, counts);
  weights[3] *= 1.02;
  g_assert_cmpfloat (judge (weights, counts, 7), >, LIMIT);
  spdl_weighted_sampler_free (weighted_sampler);
}

/* Returns the probability of @item, which is exact to 2^-32 of a cell. It is
 * computed over all random numbers from the points at which the result
 * changes. */
static double
measure_share (const SpdlWeightedSampler *weighted_sampler, guint item)
{
  const guint n = spdl_weighted_sampler_get_size (weighted_sampler);
  const double all = 18446744073709551616.0;
  double share = 0;

  for (guint cell = 0; cell < n; cell++) {
    const unsigned __int128 one = (unsigned __int128) 1 << 64;
    const guint64 first = (one * cell + n - 1) / n;
    const guint64 last = (one * (cell + 1) + n - 1) / n - 1;
    const guint32 low =
        spdl_weighted_sampler_get_item (weighted_sampler, first);
    const guint32 high =
        spdl_weighted_sampler_get_item (weighted_sampler, last);
    guint64 from = first, to = last;

    while (low != high && to - from > 1) {
      const guint64 middle = from + (to - from) / 2;

      if (spdl_weighted_sampler_get_item (weighted_sampler, middle) == low)
        from = middle;
      else
        to = middle;
    }
    if (low == high)
      share += low == item ? (last - first + 1) / all : 0;
    else if (low == item)
      share += (to - first) / all;
    else if (high == item)
      share += (last - to + 1) / all;
  }
  return share;
}

static void
test_exact (void)
{
  static const double weights[] = { 0.5, 3, 0, 1e-9, 0.25, 7, 1 };
  const guint n = G_N_ELEMENTS (weights);
  SpdlWeightedSampler *weighted_sampler = make_alias (weights, n);
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += weights[i];
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (
        fabs (measure_share (weighted_sampler, i) - weights[i] / sum), <,
        2.0 / 4294967296.0 / n);
  g_assert_cmpfloat (measure_share (weighted_sampler, 2), ==, 0);
  g_assert_cmpfloat (measure_share (weighted_sampler, 3), >, 0);
  spdl_weighted_sampler_free (weighted_sampler);
}

static void
test_nothing (void)
{
  static const double none[] = { 0, 0, 0 };

  g_assert_null (make_alias (none, 3));
}

static gchar *
describe (guint n, guint64 seed, guint64 epoch, guint64 place)
{
  g_autofree double *weights = g_new (double, n);
  GString *text = g_string_new (NULL);
  SpdlWeightedSampler *weighted_sampler;
  SpdlDraws draws;

  for (guint i = 0; i < n; i++)
    weights[i] = i % 10 / 4.0;
  weighted_sampler = make_alias (weights, n);
  spdl_draws_init (&draws, seed, epoch);
  for (guint i = 0; i < 10; i++)
    g_string_append_printf (text, i ? " %u" : "%u",
        spdl_weighted_sampler_get_item (
            weighted_sampler, spdl_draws_get_number (&draws, place + i)));
  spdl_weighted_sampler_free (weighted_sampler);
  return g_string_free (text, FALSE);
}

/* Tests fixed draws. They must never change, as resumed runs depend on them. */
static void
test_fixed (void)
{
  static const struct {
    guint n;
    guint64 seed, epoch, place;
    const gchar *items;
  } vectors[] = {
    { 10, 0, 0, 0, "9 6 9 4 5 7 6 6 5 5" },
    { 10, 42, 3, 0, "8 9 9 8 6 8 8 9 9 9" },
    { 1000, 42, 3, 0, "749 999 927 844 616 818 873 398 949 369" },
    { 1000, 42, 4, 0, "33 978 718 408 509 96 597 856 916 762" },
    { 1000, 42, 3, 5, "818 873 398 949 369 76 238 864 317 813" },
    { 100000, 18446744073709551615U, 18446744073709551615U,
        9223372036854775807U,
        "57652 14568 12988 68275 88078 39214 80908 57219 73377 33397" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (vectors); i++) {
    g_autofree gchar *items = describe (
        vectors[i].n, vectors[i].seed, vectors[i].epoch, vectors[i].place);

    g_assert_cmpstr (items, ==, vectors[i].items);
  }
}

static void
assert_weight (const gchar *text, double wanted)
{
  double weight = -1;

  g_assert_cmpint (spdl_line_parse_weight (text, strlen (text), &weight), ==,
      SPDL_PARSE_ERROR_NONE);
  g_assert_cmpfloat (weight, ==, wanted);
}

/* Tests that numbers are parsed as by the compiler. */
static void
test_numbers (void)
{
  static const gchar *const bad[] = { "", " ", "-1", "-0", "x", "1x", "1,5",
    "inf", "nan", "Infinity", "0x10", ".", "+", "e5", "1e", "1e+", "1e400",
    "--1", "1 2", "1.2.3" };

  assert_weight ("0", 0);
  assert_weight (" 7 ", 7);
  assert_weight ("+.5", 0.5);
  assert_weight ("3.", 3);
  assert_weight ("0.1", 0.1);
  assert_weight ("123456789.012345", 123456789.012345);
  assert_weight ("0.3333333333333333333333", 0.3333333333333333333333);
  assert_weight ("12345678901234567890", 12345678901234567890.0);
  assert_weight ("1e-3", 1e-3);
  assert_weight ("2.5E+10", 2.5e10);
  assert_weight ("1e-999", 0);
  assert_weight ("000000000000000000001.5", 1.5);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    double weight = -1;

    g_assert_cmpint (spdl_line_parse_weight (bad[i], strlen (bad[i]), &weight),
        ==, SPDL_PARSE_ERROR_WEIGHT);
    g_assert_cmpfloat (weight, ==, -1);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draws/shares", test_shares);
  g_test_add_func ("/draws/judge", test_judge);
  g_test_add_func ("/draws/exact", test_exact);
  g_test_add_func ("/draws/nothing", test_nothing);
  g_test_add_func ("/draws/fixed", test_fixed);
  g_test_add_func ("/draws/numbers", test_numbers);
  return g_test_run ();
}
