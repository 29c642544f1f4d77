/* gst-spdl: shuffled order of an epoch (random permutation)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/permutation.h"

#include "gst/spdl/engine/random.h"

/* Fisher-Yates shuffle; all orders are equally likely. */
static void
fill_table (SpdlPermutation *self, SpdlRandom *random)
{
  for (guint i = 0; i < self->size; i++)
    self->items[i] = i;
  for (guint i = self->size; i > 1; i--) {
    const guint k = spdl_random_below (random, i);
    const guint8 item = self->items[k];

    self->items[k] = self->items[i - 1];
    self->items[i - 1] = item;
  }
}

/* Splits the range into halves of about the same number of bits. The size of
 * the right half is a power of two, so that numbers are split without a
 * division. */
static void
divide_rounds (SpdlPermutation *self)
{
  const guint n_bits = 64 - __builtin_clzll (self->size - 1);

  self->n_bits = n_bits / 2;
  self->n_left = ((self->size - 1) >> self->n_bits) + 1;
}

void
spdl_permutation_init (
    SpdlPermutation *self, guint64 size, guint64 seed, guint64 epoch)
{
  const guint64 key[] = { seed, epoch, size };
  SpdlRandom random;

  g_return_if_fail (size <= G_GUINT64_CONSTANT (1) << 63);

  self->size = size;
  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  if (size <= SPDL_PERMUTATION_SMALL) {
    fill_table (self, &random);
    return;
  }
  divide_rounds (self);
  for (guint i = 0; i < SPDL_PERMUTATION_ROUNDS; i++)
    self->keys[i] = spdl_random_next (&random);
}

/* Returns a keyed hash of one half. The upper bits are the better ones. */
static inline guint64
hash_half (guint64 half, guint64 key)
{
  guint64 x = (half ^ key) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  x ^= x >> 32;
  return x * G_GUINT64_CONSTANT (0xd6e8feb86659fd93);
}

/* Returns the shift of the left half, which is below `n_left`. */
static inline guint64
left_shift (const SpdlPermutation *self, guint64 right, guint round)
{
  const guint64 hash = hash_half (right, self->keys[round]);

  return (guint64) ((unsigned __int128) hash * self->n_left >> 64);
}

static inline guint64
right_shift (const SpdlPermutation *self, guint64 left, guint round)
{
  return hash_half (left, self->keys[round]) >> (64 - self->n_bits);
}

static guint64
pass_forward (const SpdlPermutation *self, guint64 x)
{
  const guint64 mask = (G_GUINT64_CONSTANT (1) << self->n_bits) - 1;
  guint64 left = x >> self->n_bits;
  guint64 right = x & mask;

  for (guint i = 0; i < SPDL_PERMUTATION_ROUNDS; i += 2) {
    left += left_shift (self, right, i);
    if (left >= self->n_left)
      left -= self->n_left;
    right = (right + right_shift (self, left, i + 1)) & mask;
  }
  return left << self->n_bits | right;
}

guint64
spdl_permutation_get_item (const SpdlPermutation *self, guint64 place)
{
  guint64 x = place;

  g_return_val_if_fail (place < self->size, 0);

  if (self->size <= SPDL_PERMUTATION_SMALL)
    return self->items[place];
  do
    x = pass_forward (self, x);
  while (x >= self->size);
  return x;
}
