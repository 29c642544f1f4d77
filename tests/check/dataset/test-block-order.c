/* gst-spdl: tests of the order of rows that are read in parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/blockorder.h"

#define MAX_PARTS 40

typedef struct {
  guint64 sizes[MAX_PARTS];
  guint64 firsts[MAX_PARTS + 1];
  guint n_parts;
} Parts;

static void
make_parts (Parts *self, GRand *rand, guint n_parts)
{
  self->n_parts = n_parts;
  self->firsts[0] = 0;
  for (guint i = 0; i < n_parts; i++) {
    self->sizes[i] = g_rand_int_range (rand, 0, 12);
    self->firsts[i + 1] = self->firsts[i] + self->sizes[i];
  }
}

static guint
find_part (const Parts *self, guint64 item)
{
  guint i = 0;

  while (item >= self->firsts[i + 1])
    i++;
  return i;
}

/* Checks that each row comes once, and that a block has the rows of successive
 * parts and is as small as the buffer allows. */
static void
check_epoch (SpdlBlockOrder *order, const Parts *parts, guint64 buffer)
{
  const guint64 n = parts->firsts[parts->n_parts];
  g_autofree guint8 *seen = g_new0 (guint8, n);
  guint64 place = 0;

  while (place < n) {
    const guint block = spdl_block_order_find_block (order, place);
    guint n_block, n_ahead;
    const guint32 *list =
        spdl_block_order_get_parts (order, block, n - 1, &n_block, &n_ahead);
    guint64 size = 0, last = 0;

    g_assert_cmpuint (n_ahead, >=, n_block);
    for (guint i = 0; i < n_block; i++) {
      last = parts->sizes[list[i]];
      size += last;
    }
    if (place + size < n)
      g_assert_cmpuint (size, >=, MAX (buffer, 1));
    g_assert_cmpuint (size - last, <, MAX (buffer, 1));
    for (guint64 k = 0; k < size; k++, place++) {
      const guint64 item = spdl_block_order_get_item (order, place);
      guint i = 0;

      g_assert_cmpuint (item, <, n);
      g_assert_false (seen[item]);
      seen[item] = 1;
      while (list[i] != find_part (parts, item))
        g_assert_cmpuint (++i, <, n_block);
      g_assert_cmpuint (spdl_block_order_find_block (order, place), ==, block);
    }
  }
  g_assert_cmpuint (place, ==, n);
}

static void
test_rows (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < 300; i++) {
    const guint64 buffer = i % 3 == 0 ? 0 : g_rand_int_range (rand, 1, 60);
    SpdlBlockOrder *order;
    Parts parts;

    make_parts (&parts, rand, g_rand_int_range (rand, 1, MAX_PARTS + 1));
    order = spdl_block_order_new (parts.sizes, parts.n_parts, buffer);
    for (guint epoch = 0; epoch < 3; epoch++) {
      spdl_block_order_begin_epoch (order, TRUE, i, epoch);
      check_epoch (order, &parts, buffer);
    }
    spdl_block_order_begin_epoch (order, FALSE, i, 0);
    check_epoch (order, &parts, buffer);
    for (guint64 k = 0; k < parts.firsts[parts.n_parts]; k++)
      g_assert_cmpuint (spdl_block_order_get_item (order, k), ==, k);
    spdl_block_order_free (order);
  }
}

/* Any place can be read at any time, and epochs and seeds differ. */
static void
test_places (void)
{
  static const guint64 sizes[] = { 300, 70, 0, 300, 300, 1, 300 };
  const guint n = 1271;
  SpdlBlockOrder *one = spdl_block_order_new (sizes, 7, 600);
  SpdlBlockOrder *other = spdl_block_order_new (sizes, 7, 600);
  guint n_same[2] = { 0 };

  spdl_block_order_begin_epoch (one, TRUE, 3, 4);
  spdl_block_order_begin_epoch (other, TRUE, 9, 9);
  spdl_block_order_begin_epoch (other, TRUE, 3, 4);
  for (guint i = 0; i < n; i++) {
    const guint64 place = i * 500 % n;

    g_assert_cmpuint (spdl_block_order_get_item (one, place), ==,
        spdl_block_order_get_item (other, place));
  }
  for (guint k = 0; k < 2; k++) {
    spdl_block_order_begin_epoch (other, TRUE, 3 + k, k ? 4 : 5);
    for (guint i = 0; i < n; i++)
      n_same[k] += spdl_block_order_get_item (one, i) ==
                   spdl_block_order_get_item (other, i);
    g_assert_cmpuint (n_same[k], <, n / 20);
  }
  spdl_block_order_free (one);
  spdl_block_order_free (other);
}

/* Parts after the last place of a rank are not read ahead. */
static void
test_last (void)
{
  static const guint64 sizes[] = { 10, 10, 10, 10, 10 };
  SpdlBlockOrder *order = spdl_block_order_new (sizes, 5, 20);
  guint n_block, n;

  spdl_block_order_begin_epoch (order, FALSE, 0, 0);
  spdl_block_order_get_parts (order, 0, 49, &n_block, &n);
  g_assert_true (n_block == 2 && n == 5);
  spdl_block_order_get_parts (order, 0, 29, &n_block, &n);
  g_assert_true (n_block == 2 && n == 3);
  spdl_block_order_get_parts (order, 1, 24, &n_block, &n);
  g_assert_true (n_block == 2 && n == 2);
  spdl_block_order_free (order);
}

/* Resume states depend on the order. */
static void
test_fixed (void)
{
  static const guint64 sizes[] = { 4, 3, 5, 2 };
  static const guint64 wanted[] = { 13, 12, 8, 11, 9, 10, 7, 0, 1, 4, 2, 3, 5,
    6 };
  SpdlBlockOrder *order = spdl_block_order_new (sizes, 4, 6);

  spdl_block_order_begin_epoch (order, TRUE, 7, 1);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    g_assert_cmpuint (spdl_block_order_get_item (order, i), ==, wanted[i]);
  spdl_block_order_free (order);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/block-order/rows", test_rows);
  g_test_add_func ("/block-order/places", test_places);
  g_test_add_func ("/block-order/last", test_last);
  g_test_add_func ("/block-order/fixed", test_fixed);
  return g_test_run ();
}
