/* gst-spdl: tests of random numbers and of the order of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/random.h"
#include "plugins/dataset/sampler/permutation.h"

/* Tests the vectors of the reference implementations. */
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

  /* With modulo instead of rejection, two thirds of these would be in the lower
   * half. */
  for (guint i = 0; i < 30000; i++)
    n_low += spdl_random_below (&random, 0xc0000000) < 0x60000000;
  g_assert_cmpuint (ABS ((gint) n_low - 15000), <, 450);
}

/* Returns the first @n items of an order. */
static gchar *
order_of (guint64 size, guint64 seed, guint64 epoch, guint n)
{
  GString *text = g_string_new (NULL);
  SpdlPermutation p;

  spdl_permutation_init (&p, size, seed, epoch);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
        i ? " %" G_GUINT64_FORMAT : "%" G_GUINT64_FORMAT,
        spdl_permutation_get_item (&p, i));
  return g_string_free (text, FALSE);
}

/* Tests fixed orders. They must never change, as resumed runs depend on
 * them. */
static void
test_fixed (void)
{
  static const struct {
    guint64 size, seed, epoch;
    const gchar *order;
  } orders[] = {
    { 10, 0, 0, "9 2 7 0 3 1 6 5 4 8" },
    { 10, 42, 3, "8 0 1 5 7 3 9 4 2 6" },
    { 256U, 1U, 2U, "90 7 41 51 149 223 132 193 194 170" },
    { 257U, 0U, 0U, "11 32 81 210 138 36 43 165 98 166" },
    { 1000U, 42U, 3U, "865 851 384 173 872 667 248 239 877 702" },
    { 1281167U, 7U, 0U,
        "123687 541818 689 718538 506996 43292 1053202 1072404 110537 616155" },
    { 10000000000U, 1U, 1U,
        "7640268074 8659420824 8625776725 8238095670 605328603 9671467955 "
        "9531229719 7496135913 7716192829 1300241026" },
    { 9223372036854775808U, 18446744073709551615U, 18446744073709551615U,
        "7460516924517344321 4025005596568615949 617123997197963744 "
        "6753108864337971890 7376587766238807716 3599750999332851505 "
        "4909272953839126320 4102373133422148589 8899923234442271425 "
        "1011905673392386375" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autofree gchar *order =
        order_of (orders[i].size, orders[i].seed, orders[i].epoch, 10);

    g_assert_cmpstr (order, ==, orders[i].order);
  }
}

static void
test_pure (void)
{
  static const guint sizes[] = { 50, 5000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint n = sizes[i];
    g_autofree gchar *one = order_of (n, 1, 1, 50);
    g_autofree gchar *epoch = order_of (n, 1, 2, 50);
    g_autofree gchar *seed = order_of (n, 2, 1, 50);
    g_autofree gchar *again = order_of (n, 1, 1, 50);
    g_autofree gchar *size = order_of (n + 1, 1, 1, 50);

    g_assert_cmpstr (one, ==, again);
    g_assert_cmpstr (one, !=, epoch);
    g_assert_cmpstr (one, !=, seed);
    g_assert_cmpstr (epoch, !=, seed);
    g_assert_cmpstr (one, !=, size);
  }
}

static guint64
hash_half (guint64 half, guint64 key)
{
  guint64 x = (half ^ key) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (x ^ x >> 32) * G_GUINT64_CONSTANT (0xd6e8feb86659fd93);
}

/* Passes the network backwards. */
static guint64
find_place (const SpdlPermutation *p, guint64 item)
{
  const guint64 mask = (G_GUINT64_CONSTANT (1) << p->n_bits) - 1;

  do {
    guint64 left = item >> p->n_bits, right = item & mask;

    for (guint i = SPDL_PERMUTATION_ROUNDS; i > 0; i -= 2) {
      const guint64 *keys = &p->keys[i - 2];
      guint64 shift;

      right = (right - (hash_half (left, keys[1]) >> (64 - p->n_bits))) & mask;
      shift = (unsigned __int128) hash_half (right, keys[0]) * p->n_left >> 64;
      left += left >= shift ? -shift : p->n_left - shift;
    }
    item = left << p->n_bits | right;
  } while (item >= p->size);
  return item;
}

/* Checks that each item occurs once. */
static void
check_complete (guint n, guint64 seed)
{
  g_autofree guint8 *seen = g_malloc0 (n);
  SpdlPermutation p;

  spdl_permutation_init (&p, n, seed, 6);
  for (guint i = 0; i < n; i++) {
    const guint64 item = spdl_permutation_get_item (&p, i);

    g_assert_cmpuint (item, <, n);
    g_assert_cmpuint (seen[item]++, ==, 0);
  }
}

static void
test_complete (void)
{
  SpdlPermutation empty;

  spdl_permutation_init (&empty, 0, 1, 1);
  for (guint n = 1; n < 1100; n++)
    check_complete (n, n);
  for (guint bits = 11; bits < 20; bits++)
    for (gint more = -1; more <= 1; more++)
      check_complete ((1 << bits) + more, bits);
  check_complete (1000000, 1);
}

/* Tests the largest sizes: the inverse and the bounds. */
static void
test_huge (void)
{
  SpdlRandom random = { { 1, 2, 3, 4 } };

  for (guint bits = 20; bits < 64; bits++) {
    for (gint more = -1; more <= (bits < 63); more++) {
      const guint64 n = (G_GUINT64_CONSTANT (1) << bits) + more;
      SpdlPermutation p;

      spdl_permutation_init (&p, n, bits, 1);
      for (guint i = 0; i < 2000; i++) {
        const guint64 place =
            i < 2 ? i * (n - 1) : spdl_random_next (&random) % n;
        const guint64 item = spdl_permutation_get_item (&p, place);

        g_assert_cmpuint (item, <, n);
        g_assert_cmpuint (find_place (&p, item), ==, place);
      }
    }
  }
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
  g_test_add_func ("/permutation/huge", test_huge);
  return g_test_run ();
}
