/* gst-spdl: tests of the order of several streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/mix/proportion.h"

#include <glib.h>
#include <math.h>

#define MAX_STREAMS 16

typedef struct {
  guint k;
  double weights[MAX_STREAMS];
  double sum;
  guint64 keys[MAX_STREAMS];
  guint64 counts[MAX_STREAMS];
  double dues[MAX_STREAMS];
} Mix;

static void
mix_init (Mix *mix, guint64 seed, guint k, const double *weights)
{
  mix->k = k;
  mix->sum = 0;
  for (guint i = 0; i < k; i++) {
    mix->weights[i] = weights[i];
    mix->sum += weights[i];
    mix->keys[i] = spdl_proportion_get_key (seed, 0, i);
    mix->counts[i] = 0;
    mix->dues[i] = spdl_proportion_get_due (mix->keys[i], weights[i], 0);
  }
}

static guint
mix_next (Mix *mix)
{
  guint first = 0;

  for (guint i = 1; i < mix->k; i++)
    if (mix->dues[i] < mix->dues[first])
      first = i;
  mix->counts[first]++;
  mix->dues[first] = spdl_proportion_get_due (
      mix->keys[first], mix->weights[first], mix->counts[first]);
  return first;
}

/* Checks that each stream has its documented share of the first @n items. */
static void
check_bound (const Mix *mix, guint64 n)
{
  for (guint i = 0; i < mix->k; i++) {
    const double w = mix->weights[i] / mix->sum;

    g_assert_cmpfloat (
        fabs (mix->counts[i] - w * n), <, 1 + (mix->k - 2.0) * w);
  }
}

static void
test_bound (void)
{
  static const double weights[][5] = { { 0.7, 0.2, 0.1 }, { 1, 1 },
    { 5, 1, 1, 1, 1 }, { 1000, 1 }, { 1, 2, 3, 4, 5 } };
  static const guint ks[] = { 3, 2, 5, 2, 5 };
  Mix mix;

  for (guint s = 0; s < 20; s++)
    for (guint c = 0; c < G_N_ELEMENTS (ks); c++) {
      mix_init (&mix, s, ks[c], weights[c]);
      for (guint64 n = 1; n <= 100000; n++) {
        mix_next (&mix);
        check_bound (&mix, n);
      }
    }
}

static void
test_random_weights (void)
{
  GRand *rand = g_rand_new_with_seed (1);
  double weights[MAX_STREAMS];
  Mix mix;

  for (guint s = 0; s < 100; s++) {
    const guint k = g_rand_int_range (rand, 2, MAX_STREAMS + 1);

    for (guint i = 0; i < k; i++)
      weights[i] = exp (g_rand_double_range (rand, -5, 5));
    mix_init (&mix, s, k, weights);
    for (guint64 n = 1; n <= 5000; n++) {
      mix_next (&mix);
      check_bound (&mix, n);
    }
  }
  g_rand_free (rand);
}

/* The order is not strictly alternating, and depends on the seed. */
static void
test_seed (void)
{
  static const double weights[] = { 1, 1 };
  guint n_same = 0, n_pairs = 0, before = 2;
  Mix one, other;

  mix_init (&one, 1, 2, weights);
  mix_init (&other, 2, 2, weights);
  for (guint i = 0; i < 10000; i++) {
    const guint a = mix_next (&one);

    n_pairs += a == before;
    before = a;
    n_same += a == mix_next (&other);
  }
  g_assert_cmpuint (n_pairs, >, 2000);
  g_assert_cmpuint (n_pairs, <, 5000);
  g_assert_cmpuint (n_same, >, 4000);
  g_assert_cmpuint (n_same, <, 6000);
}

/* The order must never change, since states of interrupted runs depend on
 * it. */
static void
test_vectors (void)
{
  static const double weights[] = { 0.7, 0.2, 0.1 };
  g_autoptr (GString) text = g_string_new (NULL);
  Mix mix;

  mix_init (&mix, 42, 3, weights);
  for (guint i = 0; i < 60; i++)
    g_string_append_c (text, '0' + mix_next (&mix));
  g_assert_cmpstr (text->str, ==,
      "021000010012000000102000100100000011000220010000010010000210");
}

/* Proportions are exact at position 10^12 as well. */
static void
test_far (void)
{
  static const double weights[] = { 0.7, 0.2, 0.1 };
  static const guint64 begin[] = { 700000000000, 200000000000, 100000000000 };
  Mix mix;

  mix_init (&mix, 7, 3, weights);
  for (guint i = 0; i < 3; i++) {
    mix.counts[i] = begin[i];
    mix.dues[i] = spdl_proportion_get_due (mix.keys[i], weights[i], begin[i]);
  }
  for (guint64 n = 1; n <= 10000; n++) {
    mix_next (&mix);
    for (guint i = 0; i < 3; i++)
      g_assert_cmpfloat (
          fabs (mix.counts[i] - begin[i] - weights[i] * n), <, 3);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/proportion/bound", test_bound);
  g_test_add_func ("/proportion/random-weights", test_random_weights);
  g_test_add_func ("/proportion/seed", test_seed);
  g_test_add_func ("/proportion/vectors", test_vectors);
  g_test_add_func ("/proportion/far", test_far);
  return g_test_run ();
}
