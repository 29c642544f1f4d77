/* gst-spdl: proportional choice among streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/random.h"

G_BEGIN_DECLS

/* Mixes streams in given proportions.
 *
 * Item j of a stream with weight w is due at (j + r) / w, where r, between 0
 * and 1 (exclusive), is a hash of the stream's key and j. The next item comes
 * from the stream that is due first; on a tie, from the first of them.
 * The choice is therefore a pure function of the keys, the weights and the
 * number of items taken from each stream, and can continue from any such
 * numbers.
 *
 * Bound: when all items due by T were taken, T w + e items came from a stream
 * of weight w, with -1 < e < 1 for any hashes. If the weights add up to 1, n =
 * T + (sum of all e) items were taken in total. The stream's number differs
 * from w n by e (1 - w) - w (sum of the other e), which is less than 1 + (k -
 * 2) w for k streams. The same holds between two such moments, since items are
 * taken one by one in the order in which they are due. If up to m items are
 * taken at once as a group, the bound is m times as large. */

/* Returns the key of a stream. */
static inline guint64
spdl_proportion_get_key (guint64 seed, guint64 epoch, guint64 stream)
{
  const guint64 numbers[] = { seed, epoch, stream,
    G_GUINT64_CONSTANT (0x6d6978) };
  SpdlRandom random;

  spdl_random_init (&random, numbers, G_N_ELEMENTS (numbers));
  return spdl_random_next (&random);
}

/* Returns the time at which item @count of the stream is due. @weight must be >
 * 0. */
static inline double
spdl_proportion_get_due (guint64 key, double weight, guint64 count)
{
  guint64 state = key + count;
  /* A fraction of 52 bits plus a half unit is neither 0 nor 1. */
  const double r = ((spdl_random_splitmix (&state) >> 12) + 0.5) * 0x1p-52;

  return ((double) count + r) / weight;
}

G_END_DECLS
