/* gst-spdl: reproducible random numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* xoshiro256** by Blackman and Vigna, seeded with splitmix64. Both are in the
 * public domain and have published test vectors. GRand is not used, because
 * GLib may change its sequences. */
typedef struct {
  guint64 state[4];
} SpdlRandom;

/* Initializes the generator from a key: splitmix64 of the first number,
 * continued with each of the others, so that keys that differ in one bit give
 * unrelated sequences. */
void spdl_random_init (SpdlRandom *self, const guint64 *key, guint n_numbers);

guint64 spdl_random_next (SpdlRandom *self);

/* Returns a uniformly distributed number below @bound. @bound > 0 */
guint32 spdl_random_below (SpdlRandom *self, guint32 bound);

/* Returns a number in [0, 1) with 53 random bits. */
double spdl_random_double (SpdlRandom *self);

/* Draws a number between @least and @most. */
double spdl_random_between (SpdlRandom *self, double least, double most);

/* Draws the sides of a rectangle as torchvision does: its area is a share of
 * @area, and the ratio of its first to its second side has a uniformly
 * distributed logarithm. The sides are rounded, and may be 0.
 *
 * @shares, @ratios: least and most */
void spdl_random_sides (SpdlRandom *self, double area, const double shares[2],
    const double ratios[2], double sides[2]);

/* Draws two normally distributed numbers with mean 0 and variance 1. */
void spdl_random_normal (SpdlRandom *self, double pair[2]);

/* Returns the logarithm of a number with a gamma distribution of the shape
 * @alpha > 0. The number itself would vanish for a small @alpha. */
double spdl_random_log_gamma (SpdlRandom *self, double alpha);

/* Returns the next number of splitmix64. */
guint64 spdl_random_splitmix (guint64 *state);

SPDL_END_PRIVATE_API
G_END_DECLS
