/* gst-spdl: reproducible random numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/random.h"

guint64
spdl_random_splitmix (guint64 *state)
{
  guint64 x = *state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  x = (x ^ x >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ x >> 31;
}

void
spdl_random_init (SpdlRandom *self, const guint64 *key, guint n_numbers)
{
  guint64 seed = 0;

  for (guint i = 0; i < n_numbers; i++) {
    seed ^= key[i];
    seed = spdl_random_splitmix (&seed);
  }
  for (guint i = 0; i < 4; i++)
    self->state[i] = spdl_random_splitmix (&seed);
}

static guint64
rotate_left (guint64 x, guint n)
{
  return x << n | x >> (64 - n);
}

guint64
spdl_random_next (SpdlRandom *self)
{
  guint64 *s = self->state;
  const guint64 result = rotate_left (s[1] * 5, 7) * 9;
  const guint64 t = s[1] << 17;

  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left (s[3], 45);
  return result;
}

/* Uses Lemire's method: the upper half of a product is the result. Products
 * whose lower half is below 2^32 mod bound would favor some results, and are
 * drawn again. */
guint32
spdl_random_below (SpdlRandom *self, guint32 bound)
{
  guint64 product = (spdl_random_next (self) >> 32) * bound;

  if ((guint32) product < bound) {
    const guint32 surplus = -bound % bound;

    while ((guint32) product < surplus)
      product = (spdl_random_next (self) >> 32) * bound;
  }
  return product >> 32;
}

double
spdl_random_double (SpdlRandom *self)
{
  return (spdl_random_next (self) >> 11) * 0x1p-53;
}
