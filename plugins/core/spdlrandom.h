/* gst-spdl: random numbers that are the same everywhere
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_RANDOM_H__
#define __SPDL_RANDOM_H__

#include <glib.h>

G_BEGIN_DECLS

/* xoshiro256** by Blackman and Vigna, seeded by splitmix64: both are public
 * and have published vectors. Not GRand, whose sequences GLib may change. */
typedef struct {
  guint64 state[4];
} SpdlRandom;

/* The generator of a key: it starts from splitmix64 of the first number, taken
 * on with each of the others, so that keys that differ in one bit have nothing
 * to do with each other. */
void spdl_random_init (SpdlRandom *self, const guint64 *key, guint n_numbers);

guint64 spdl_random_next (SpdlRandom *self);

/* A number below @bound, each with the same probability. @bound > 0 */
guint32 spdl_random_below (SpdlRandom *self, guint32 bound);

/* The next number of splitmix64. */
guint64 spdl_random_splitmix (guint64 *state);

G_END_DECLS

#endif /* __SPDL_RANDOM_H__ */
