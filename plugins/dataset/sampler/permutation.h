/* gst-spdl: shuffled order of an epoch (random permutation)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Order of the items of a dataset in an epoch. It is a pure function of (size,
 * seed, epoch) and must never change, on any machine or in any version, because
 * resume states depend on it. Each position is computed independently in some
 * tens of nanoseconds, without memory apart from this struct, for any size.
 *
 * The permutation is a Feistel network with cycle-walking. Its domain is the
 * numbers below `n_left` << `n_bits`, slightly more than `size`. Each number is
 * split into a left and a right half, which are shifted alternately by a keyed
 * hash of the other half; this is invertible. A result that is not below `size`
 * goes through the network again. Halves of less than four bits have too few
 * hashes to make all orders equally likely, so up to SPDL_PERMUTATION_SMALL
 * items are shuffled in a table.
 *
 * Immutable after initialization, hence readable from any thread. */

#define SPDL_PERMUTATION_ROUNDS 8
#define SPDL_PERMUTATION_SMALL 256

typedef struct {
  guint64 size;
  union {
    struct {
      guint64 n_left;
      guint n_bits; /* of the right half */
      guint64 keys[SPDL_PERMUTATION_ROUNDS];
    };
    guint8 items[SPDL_PERMUTATION_SMALL];
  };
} SpdlPermutation;

/* @size: at most 2^63 */
void spdl_permutation_init (
    SpdlPermutation *self, guint64 size, guint64 seed, guint64 epoch);

/* Returns the item at @place in the order. Both are below the size. */
guint64 spdl_permutation_get_item (const SpdlPermutation *self, guint64 place);

G_END_DECLS
