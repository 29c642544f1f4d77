/* gst-spdl: weighted random draws
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Draws items with replacement, each as often as its weight says, by Walker's
 * alias table as Vose makes it: n cells, in each of which a threshold of 32
 * bits says how much of it is the item's of that number, and how much that of
 * another, the alias. 8 bytes an item, 12 while it is made.
 *
 * Weights become whole numbers, and all that follows is in whole numbers, so
 * that a table is the same on every machine and for ever:
 *
 * - m(i), the weight over the largest one, times 2^53, rounded down;
 * - q(i), the item's share of n * 2^32 parts: m(i) * n * 2^32 / sum of all m,
 *   rounded down, where what is cut off is carried on to the next item, so that
 *   all q add up exactly.
 *
 * So a share is off by less than 2^-32 of the mean weight's (and by 2^-53 of
 * the largest weight's). 0 stays 0, and such an item is never drawn.
 *
 * A cell's item: cells are taken in pairs, a small one (q below 2^32) and a
 * large one, of which the latter fills the former up; always the last of each
 * that is there, where at first both are in descending order. */
typedef struct _SpdlWeightedSampler SpdlWeightedSampler;

/* @weights: finite, from 0 on; overwritten. Takes as many as there are up to
 *     2^32 - 1.
 *
 * Returns NULL if all are 0. */
SpdlWeightedSampler *spdl_weighted_sampler_new (GArray *weights);

void spdl_weighted_sampler_free (SpdlWeightedSampler *self);

guint32 spdl_weighted_sampler_get_size (const SpdlWeightedSampler *self);

/* The item that a random number stands for: its upper part is the cell, the
 * rest, 32 bits of it, goes below or above the threshold. */
guint32 spdl_weighted_sampler_get_item (
    const SpdlWeightedSampler *self, guint64 random);

/* The random numbers of an epoch's draws: a pure function of (seed, epoch) and
 * the place, the same for ever. Two keys come from xoshiro256** seeded with
 * splitmix64 of (seed, epoch, 0x7765696768740001); a number is splitmix64's
 * for the first key at the place, mixed with the second one by splitmix64
 * again. */
typedef struct {
  guint64 keys[2];
} SpdlDraws;

void spdl_draws_init (SpdlDraws *self, guint64 seed, guint64 epoch);

guint64 spdl_draws_get_number (const SpdlDraws *self, guint64 place);

G_END_DECLS
