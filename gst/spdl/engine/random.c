/* gst-spdl: reproducible random numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/random.h"

#include <math.h>

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

double
spdl_random_between (SpdlRandom *self, double least, double most)
{
  return least + (most - least) * spdl_random_double (self);
}

void
spdl_random_sides (SpdlRandom *self, double area, const double shares[2],
    const double ratios[2], double sides[2])
{
  const double wanted = area * spdl_random_between (self, shares[0], shares[1]);
  const double ratio =
      exp (spdl_random_between (self, log (ratios[0]), log (ratios[1])));

  sides[0] = rint (sqrt (wanted * ratio));
  sides[1] = rint (sqrt (wanted / ratio));
}

/* The method of Box and Muller. */
void
spdl_random_normal (SpdlRandom *self, double pair[2])
{
  const double radius = sqrt (-2 * log (1 - spdl_random_double (self)));
  const double angle = 2 * G_PI * spdl_random_double (self);

  pair[0] = radius * cos (angle);
  pair[1] = radius * sin (angle);
}

/* The method of Marsaglia and Tsang. */
double
spdl_random_log_gamma (SpdlRandom *self, double alpha)
{
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1 / 3.;
  const double c = 1 / sqrt (9 * d);
  double pair[2], v, u;

  do {
    spdl_random_normal (self, pair);
    v = pow (1 + c * pair[0], 3);
    u = 1 - spdl_random_double (self);
  } while (
      v <= 0 || log (u) >= pair[0] * pair[0] / 2 + d - d * v + d * log (v));
  if (alpha < 1)
    return log (d * v) + log (1 - spdl_random_double (self)) / alpha;
  return log (d * v);
}
