/* gst-spdl: proportional choice among streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/mix/proportion.h"

#include "gst/spdl/engine/random.h"

guint64
spdl_proportion_get_key (guint64 seed, guint64 epoch, guint64 stream)
{
  const guint64 numbers[] = { seed, epoch, stream,
    G_GUINT64_CONSTANT (0x6d6978) };
  SpdlRandom random;

  spdl_random_init (&random, numbers, G_N_ELEMENTS (numbers));
  return spdl_random_next (&random);
}

double
spdl_proportion_get_due (guint64 key, double weight, guint64 count)
{
  guint64 state = key + count;
  /* A fraction of 52 bits plus a half unit is neither 0 nor 1. */
  const double r = ((spdl_random_splitmix (&state) >> 12) + 0.5) * 0x1p-52;

  return ((double) count + r) / weight;
}
