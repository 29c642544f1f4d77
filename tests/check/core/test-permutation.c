/* gst-spdl: tests of the random numbers and the order of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlpermutation.h"
#include "gst/spdl/engine/spdlrandom.h"

/* The vectors that the generators' authors' code gives. */
static void
test_vectors (void)
{
  static const guint64 splitmix[] = { 6457827717110365317U,
    3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
    16408922859458223821U };
  static const guint64 xoshiro[] = { 11520U, 0U, 1509978240U,
    1215971899390074240U, 1216172134540287360U, 607988272756665600U,
    16172922978634559625U, 8476171486693032832U, 10595114339597558777U,
    2904607092377533576U };
  SpdlRandom random = { { 1, 2, 3, 4 } };
  guint64 state = 1234567;

  for (guint i = 0; i < G_N_ELEMENTS (splitmix); i++)
    g_assert_cmpuint (spdl_random_splitmix (&state), ==, splitmix[i]);
  for (guint i = 0; i < G_N_ELEMENTS (xoshiro); i++)
    g_assert_cmpuint (spdl_random_next (&random), ==, xoshiro[i]);
}

static void
test_below (void)
{
  static const guint64 key[] = { 7 };
  static const guint32 bounds[] = { 1, 2, 3, 10, 0x80000001, G_MAXUINT32 };
  guint counts[3] = { 0 };
  guint n_low = 0;
  SpdlRandom random;

  spdl_random_init (&random, key, 1);
  for (guint b = 0; b < G_N_ELEMENTS (bounds); b++)
    for (guint i = 0; i < 1000; i++)
      g_assert_cmpuint (spdl_random_below (&random, bounds[b]), <, bounds[b]);
  for (guint i = 0; i < 30000; i++)
    counts[spdl_random_below (&random, 3)]++;
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (ABS ((gint) counts[i] - 10000), <, 400);

  /* Without drawing again, two thirds of these would be in the lower half. */
  for (guint i = 0; i < 30000; i++)
    n_low += spdl_random_below (&random, 0xc0000000) < 0x60000000;
  g_assert_cmpuint (ABS ((gint) n_low - 15000), <, 450);
}

static gchar *
order_of (SpdlPermutation *p, guint64 n, guint64 seed, guint64 epoch)
{
  GString *text = g_string_new (NULL);

  spdl_permutation_set_epoch (p, seed, epoch);
  for (guint64 i = 0; i < n; i++)
    g_string_append_printf (text,
        i ? " %" G_GUINT64_FORMAT : "%" G_GUINT64_FORMAT,
        spdl_permutation_get (p, i));
  return g_string_free (text, FALSE);
}

/* The orders of ever after: a run that is resumed relies on them. */
static void
test_fixed (void)
{
  g_autoptr (SpdlPermutation) p = spdl_permutation_new (10);
  g_autofree gchar *first = order_of (p, 10, 0, 0);
  g_autofree gchar *other = order_of (p, 10, 42, 3);

  g_assert_cmpstr (first, ==, "9 2 7 0 3 1 6 5 4 8");
  g_assert_cmpstr (other, ==, "8 0 1 5 7 3 9 4 2 6");
}

static void
test_pure (void)
{
  g_autoptr (SpdlPermutation) p = spdl_permutation_new (50);
  g_autoptr (SpdlPermutation) q = spdl_permutation_new (50);
  g_autoptr (SpdlPermutation) larger = spdl_permutation_new (51);
  g_autofree gchar *one = order_of (p, 50, 1, 1);
  g_autofree gchar *epoch = order_of (p, 50, 1, 2);
  g_autofree gchar *seed = order_of (p, 50, 2, 1);
  g_autofree gchar *again = order_of (p, 50, 1, 1);
  g_autofree gchar *elsewhere = order_of (q, 50, 1, 1);
  g_autofree gchar *size = order_of (larger, 50, 1, 1);

  g_assert_cmpstr (one, ==, again);
  g_assert_cmpstr (one, ==, elsewhere);
  g_assert_cmpstr (one, !=, epoch);
  g_assert_cmpstr (one, !=, seed);
  g_assert_cmpstr (epoch, !=, seed);
  g_assert_cmpstr (one, !=, size);
}

static void
test_complete (void)
{
  static const guint sizes[] = { 0, 1, 2, 3, 7, 64, 1000, 65537 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    g_autoptr (SpdlPermutation) p = spdl_permutation_new (sizes[s]);
    g_autofree guint8 *seen = g_malloc0 (sizes[s] + 1);

    spdl_permutation_set_epoch (p, 5, 6);
    for (guint i = 0; i < sizes[s]; i++) {
      const guint64 item = spdl_permutation_get (p, i);

      g_assert_cmpuint (item, <, sizes[s]);
      g_assert_cmpuint (seen[item]++, ==, 0);
    }
  }
}

/* Each of the orders of three items in a sixth of all epochs. */
static void
test_uniform (void)
{
  g_autoptr (SpdlPermutation) p = spdl_permutation_new (3);
  guint counts[9] = { 0 };

  for (guint epoch = 0; epoch < 12000; epoch++) {
    spdl_permutation_set_epoch (p, 1, epoch);
    counts[spdl_permutation_get (p, 0) * 3 + spdl_permutation_get (p, 1)]++;
  }
  for (guint i = 0; i < 9; i++)
    g_assert_cmpuint (ABS ((gint) counts[i] - (i % 4 ? 2000 : 0)), <, 200);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/permutation/vectors", test_vectors);
  g_test_add_func ("/permutation/below", test_below);
  g_test_add_func ("/permutation/fixed", test_fixed);
  g_test_add_func ("/permutation/pure", test_pure);
  g_test_add_func ("/permutation/complete", test_complete);
  g_test_add_func ("/permutation/uniform", test_uniform);
  return g_test_run ();
}
