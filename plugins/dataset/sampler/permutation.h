/* gst-spdl: shuffled order of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In which order the items of a dataset come in an epoch: a pure function of
 * (size, seed, epoch), the same on every machine and in every version for ever,
 * since the state of an interrupted run relies on it. Any item's place is
 * computed by itself, in some tens of nanoseconds and in no memory but this
 * struct's, whatever the size.
 *
 * It is a Feistel network with cycle-walking. The numbers below `n_left` <<
 * `n_bits`, which are a few more than `size`, are taken apart into a left and a
 * right half. In turns, each half is moved by a keyed hash of the other one,
 * which can be undone; what comes out too large goes through again. With halves
 * of under four bits there would be too few hashes to make all orders equally
 * likely: up to SPDL_PERMUTATION_SMALL items are shuffled in a table.
 *
 * Immutable once initialised, so it may be read from any thread. */

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
    struct {
      guint8 items[SPDL_PERMUTATION_SMALL];
      guint8 places[SPDL_PERMUTATION_SMALL];
    };
  };
} SpdlPermutation;

/* @size: up to 2^63 */
void spdl_permutation_init (
    SpdlPermutation *self, guint64 size, guint64 seed, guint64 epoch);

/* The item at @place of the order. Both are below the size. */
guint64 spdl_permutation_get_item (const SpdlPermutation *self, guint64 place);

/* The place of @item in the order. */
guint64 spdl_permutation_get_place (const SpdlPermutation *self, guint64 item);

G_END_DECLS
