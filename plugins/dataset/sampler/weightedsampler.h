/* gst-spdl: weighted random sampling (alias method)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Draws items with replacement with probabilities proportional to their
 * weights, using Walker's alias table with Vose's construction. There are n
 * cells. In cell i, a threshold of 32 bits divides the cell between item i and
 * another item, the alias. Needs 8 bytes per item.
 *
 * Weights are converted to integers, and all further steps use integers, so
 * that a table is the same on every machine and in every version:
 *
 * - m(i): the weight divided by the largest one, times 2^53, rounded down;
 * - q(i): the share of the item in n * 2^32 parts, m(i) * n * 2^32 / sum of all
 *   m, rounded down. The remainder is carried over to the next item, so that
 *   the sum of all q is exact.
 *
 * The error of a share is less than 2^-32 of the share of the mean weight, plus
 * 2^-53 of that of the largest weight. An item of weight 0 is never drawn.
 *
 * Cells are paired, a small one (q below 2^32) with a large one that fills it
 * up. Each is the last of its kind; both lists start in descending order. */
typedef struct _SpdlWeightedSampler SpdlWeightedSampler;

/* Creates a sampler.
 *
 * @weights: finite and not negative, at most 2^32 - 1 of them; the sampler
 *     keeps a reference and overwrites the values
 *
 * Returns NULL if all weights are 0. */
SpdlWeightedSampler *spdl_weighted_sampler_new (GArray *weights);

void spdl_weighted_sampler_free (SpdlWeightedSampler *self);

guint32 spdl_weighted_sampler_get_size (const SpdlWeightedSampler *self);

/* Returns the item for a random number. The upper bits select a cell; 32 bits
 * of the rest are compared to its threshold. */
guint32 spdl_weighted_sampler_get_item (
    const SpdlWeightedSampler *self, guint64 random);

/* Random numbers of the draws of an epoch. They are a pure function of (seed,
 * epoch) and the position, which must never change. Two keys come from
 * xoshiro256** seeded with splitmix64 of (seed, epoch, 0x7765696768740001). A
 * number is splitmix64 of the first key at the position, combined with the
 * second key and passed through splitmix64 again. */
typedef struct {
  guint64 keys[2];
} SpdlDraws;

void spdl_draws_init (SpdlDraws *self, guint64 seed, guint64 epoch);

guint64 spdl_draws_get_number (const SpdlDraws *self, guint64 place);

G_END_DECLS
