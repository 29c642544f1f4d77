/* gst-spdl: statistical tests of the orders of epochs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The same statistics of three kinds of orders: the permutation under test,
 * Fisher-Yates shuffles, which must pass, and affine maps, which must fail.
 * Each statistic has approximately the standard normal distribution if all
 * orders are equally likely. All keys are fixed, so the result is always the
 * same. */

#include <math.h>

#include "gst/spdl/engine/random.h"
#include "plugins/dataset/sampler/permutation.h"

/* Among some hundreds of values, one beyond this limit occurs by chance in a
 * hundredth of the runs. */
#define LIMIT 4.2

typedef enum {
  FEISTEL,
  FISHER_YATES,
  AFFINE,
  N_KINDS,
} Kind;

static const gchar *const kinds[] = { "feistel", "fisher-yates", "affine" };

typedef struct {
  Kind kind;
  double worst;
} Judge;

static void
shuffle (guint32 *order, guint n, guint64 key)
{
  const guint64 keys[] = { 77, key };
  SpdlRandom random;

  spdl_random_init (&random, keys, G_N_ELEMENTS (keys));
  for (guint i = n; i > 1; i--) {
    const guint k = spdl_random_below (&random, i);
    const guint32 item = order[k];

    order[k] = order[i - 1];
    order[i - 1] = item;
  }
}

static guint64
gcd (guint64 a, guint64 b)
{
  return b == 0 ? a : gcd (b, a % b);
}

static void
spread (guint32 *order, guint n, guint64 key)
{
  const guint64 keys[] = { key };
  guint64 factor, shift;
  SpdlRandom random;

  spdl_random_init (&random, keys, 1);
  do
    factor = spdl_random_below (&random, n);
  while (gcd (factor, n) != 1);
  shift = spdl_random_below (&random, n);
  for (guint i = 0; i < n; i++)
    order[i] = (i * factor + shift) % n;
}

static void
make_order (Kind kind, guint32 *order, guint n, guint64 key)
{
  SpdlPermutation p;

  switch (kind) {
    case FEISTEL:
      spdl_permutation_init (&p, n, 1, key);
      for (guint i = 0; i < n; i++)
        order[i] = spdl_permutation_get_item (&p, i);
      break;
    case FISHER_YATES:
      for (guint i = 0; i < n; i++)
        order[i] = i;
      shuffle (order, n, key);
      break;
    default:
      spread (order, n, key);
      break;
  }
}

static void
judge (Judge *self, const gchar *what, guint n, double z)
{
  g_test_message ("%s, %u items, %s: %.2f", kinds[self->kind], n, what, z);
  self->worst = MAX (self->worst, fabs (z));
}

/* Judges counts of equally likely cells, with the Wilson-Hilferty
 * transformation of chi-squared. */
static void
judge_cells (Judge *self, const gchar *what, guint n, const guint *counts,
    guint n_cells, double total, guint freedom)
{
  const double wanted = total / n_cells;
  const double v = 2.0 / (9.0 * freedom);
  double chi = 0;

  for (guint i = 0; i < n_cells; i++)
    chi += (counts[i] - wanted) * (counts[i] - wanted) / wanted;
  judge (self, what, n, (cbrt (chi / freedom) - (1 - v)) / sqrt (v));
}

/* Returns the lexicographic number of an order among all of its length. */
static guint
rank_order (const guint32 *order, guint n)
{
  guint rank = 0;

  for (guint i = 0; i < n; i++) {
    guint smaller = 0;

    for (guint k = i + 1; k < n; k++)
      smaller += order[k] < order[i];
    rank = rank * (n - i) + smaller;
  }
  return rank;
}

/* Judges whether all orders of a few items are equally likely. */
static void
judge_all_orders (Judge *self, guint n)
{
  g_autofree guint *counts = NULL;
  guint n_orders = 1;
  guint32 order[8];

  for (guint i = 2; i <= n; i++)
    n_orders *= i;
  counts = g_new0 (guint, n_orders);
  for (guint key = 0; key < n_orders * 100; key++) {
    make_order (self->kind, order, n, key);
    counts[rank_order (order, n)]++;
  }
  judge_cells (
      self, "all orders", n, counts, n_orders, n_orders * 100.0, n_orders - 1);
}

#define BINS 16

static guint
bin_of (guint32 item, guint n)
{
  return (guint64) item * BINS / n;
}

typedef struct {
  guint *at_place[3];       /* which item is first, in the middle and last */
  guint *steps;             /* differences between successive items, mod n */
  guint joint[BINS * BINS]; /* bins of two neighbors */
  double fixed_points;
  double cycles;
  double ascents;
  double odd;
} Sums;

static guint
count_cycles (const guint32 *order, guint n)
{
  g_autofree guint8 *seen = g_malloc0 (n);
  guint n_cycles = 0;

  for (guint i = 0; i < n; i++) {
    n_cycles += !seen[i];
    for (guint k = i; !seen[k]; k = order[k])
      seen[k] = TRUE;
  }
  return n_cycles;
}

static void
add_order (Sums *sums, const guint32 *order, guint n)
{
  const guint cycles = count_cycles (order, n);

  sums->at_place[0][order[0]]++;
  sums->at_place[1][order[n / 2]]++;
  sums->at_place[2][order[n - 1]]++;
  for (guint i = 0; i < n; i++)
    sums->fixed_points += order[i] == i;
  for (guint i = 0; i + 1 < n; i++)
    sums->ascents += order[i] < order[i + 1];
  /* Only one pair per order, so that the counts are independent. */
  sums->steps[(order[n / 3 + 1] + n - order[n / 3]) % n]++;
  sums->cycles += cycles;
  sums->odd += (n - cycles) % 2;
}

static void
judge_sums (Judge *self, const Sums *sums, guint n, double n_keys)
{
  static const gchar *const places[] = { "first", "middle", "last" };
  double mean = 0, variance = 0;

  for (guint i = 0; i < 3; i++)
    judge_cells (self, places[i], n, sums->at_place[i], n, n_keys, n - 1);
  judge_cells (self, "steps", n, sums->steps + 1, n - 1, n_keys, n - 2);
  judge (
      self, "fixed points", n, (sums->fixed_points - n_keys) / sqrt (n_keys));
  for (guint i = 1; i <= n; i++) {
    mean += 1.0 / i;
    variance += 1.0 / i - 1.0 / i / i;
  }
  judge (self, "cycles", n,
      (sums->cycles - n_keys * mean) / sqrt (n_keys * variance));
  judge (self, "ascents", n,
      (sums->ascents - n_keys * (n - 1) / 2) / sqrt (n_keys * (n + 1) / 12));
  judge (self, "parity", n, (sums->odd - n_keys / 2) / sqrt (n_keys / 4));
}

/* Judges many orders of the same size. */
static void
judge_many (Judge *self, guint n, guint n_keys)
{
  g_autofree guint32 *order = g_new (guint32, n);
  g_autofree guint *counts = g_new0 (guint, 4 * n);
  Sums sums = { { counts, counts + n, counts + 2 * n }, counts + 3 * n };

  for (guint key = 0; key < n_keys; key++) {
    make_order (self->kind, order, n, key);
    add_order (&sums, order, n);
  }
  judge_sums (self, &sums, n, n_keys);
}

static void
judge_correlation (Judge *self, const guint32 *order, guint n, guint lag)
{
  const double mean = (n - 1) / 2.0;
  const double variance = ((double) n * n - 1) / 12;
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += (order[i] - mean) * (order[(i + lag) % n] - mean);
  judge (
      self, "serial correlation", n, (sum / n / variance + 1.0 / n) * sqrt (n));
}

/* Judges a single order: whether neighboring items stay neighbors. */
static void
judge_one (Judge *self, guint n, guint64 key)
{
  static const guint lags[] = { 1, 2, 16, 256 };
  g_autofree guint32 *order = g_new (guint32, n);
  guint places[BINS * BINS] = { 0 }, pairs[BINS * BINS] = { 0 };
  double ascents = 0;

  make_order (self->kind, order, n, key);
  for (guint i = 0; i < n; i++) {
    const guint next = order[(i + 1) % n];

    places[bin_of (i, n) * BINS + bin_of (order[i], n)]++;
    pairs[bin_of (order[i], n) * BINS + bin_of (next, n)]++;
    ascents += order[i] < next;
  }
  judge_cells (
      self, "places", n, places, BINS * BINS, n, (BINS - 1) * (BINS - 1));
  judge_cells (
      self, "neighbours", n, pairs, BINS * BINS, n, (BINS - 1) * (BINS - 1));
  judge (self, "ascents of one", n, (ascents - n / 2.0) / sqrt (n / 12.0));
  for (guint i = 0; i < G_N_ELEMENTS (lags); i++)
    judge_correlation (self, order, n, lags[i]);
}

static Judge
judge_kind (Kind kind, void (*judge_all) (Judge *))
{
  Judge self = { kind };

  judge_all (&self);
  return self;
}

static void
compare (void (*judge_all) (Judge *))
{
  g_assert_cmpfloat (judge_kind (FEISTEL, judge_all).worst, <, LIMIT);
  g_assert_cmpfloat (judge_kind (FISHER_YATES, judge_all).worst, <, LIMIT);
  g_assert_cmpfloat (judge_kind (AFFINE, judge_all).worst, >, 10);
}

static void
judge_few_items (Judge *self)
{
  for (guint n = 2; n <= 6; n++)
    judge_all_orders (self, n);
}

static void
judge_some_items (Judge *self)
{
  static const guint sizes[] = { 3, 7, 10, 31, 64, 100, 255, 256, 257, 258, 300,
    511, 512, 513, 700, 1000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    judge_many (self, sizes[i], 4000);
}

static void
judge_many_items (Judge *self)
{
  static const guint sizes[] = { 10000, 16384, 65536, 99991, 1000000, 1 << 20,
    10000000 };

  /* The affine maps fail at the smaller sizes already. */
  for (guint i = 0; i < (self->kind == AFFINE ? 3 : G_N_ELEMENTS (sizes)); i++)
    for (guint64 key = 0; key < (sizes[i] < 1000000 ? 5 : 1); key++)
      judge_one (self, sizes[i], key);
}

static void
test_few_items (void)
{
  compare (judge_few_items);
}

static void
test_some_items (void)
{
  compare (judge_some_items);
}

static void
test_many_items (void)
{
  compare (judge_many_items);
}

/* Tests that similar keys give independent orders. */
static void
test_keys (void)
{
  static const guint64 others[][2] = { { 1, 0 }, { 0, 1 }, { 1, 1 },
    { G_GUINT64_CONSTANT (1) << 63, 0 }, { 0, G_GUINT64_CONSTANT (1) << 63 } };
  const guint n = 20000;
  const double mean = (n - 1) / 2.0;
  SpdlPermutation p, q;

  spdl_permutation_init (&p, n, 0, 0);
  for (guint k = 0; k < G_N_ELEMENTS (others); k++) {
    double sum = 0;
    guint same = 0;

    spdl_permutation_init (&q, n, others[k][0], others[k][1]);
    for (guint i = 0; i < n; i++) {
      const guint64 a = spdl_permutation_get_item (&p, i);
      const guint64 b = spdl_permutation_get_item (&q, i);

      sum += (a - mean) * (b - mean);
      same += a == b;
    }
    g_assert_cmpfloat (
        fabs (sum / (((double) n * n - 1) / 12)), <, LIMIT * sqrt (n));
    g_assert_cmpuint (same, <, 8);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shuffle/few-items", test_few_items);
  g_test_add_func ("/shuffle/some-items", test_some_items);
  g_test_add_func ("/shuffle/many-items", test_many_items);
  g_test_add_func ("/shuffle/keys", test_keys);
  return g_test_run ();
}
