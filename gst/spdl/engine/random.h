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

/* xoshiro256** by Blackman and Vigna, seeded by splitmix64: both are public
 * and have published vectors. Not GRand, whose sequences GLib may change. */
typedef struct {
  guint64 state[4];
} SpdlRandom;

/* The generator of a key: it starts from splitmix64 of the first number, taken
 * on with each of the others, so that keys that differ in one bit have nothing
 * to do with each other. */
SPDL_PRIVATE_API
void spdl_random_init (SpdlRandom *self, const guint64 *key, guint n_numbers);

SPDL_PRIVATE_API
guint64 spdl_random_next (SpdlRandom *self);

/* A number below @bound, each with the same probability. @bound > 0 */
SPDL_PRIVATE_API
guint32 spdl_random_below (SpdlRandom *self, guint32 bound);

/* A number from 0 on and below 1, with 53 bits. */
SPDL_PRIVATE_API
double spdl_random_double (SpdlRandom *self);

/* The next number of splitmix64. */
SPDL_PRIVATE_API
guint64 spdl_random_splitmix (guint64 *state);

G_END_DECLS
