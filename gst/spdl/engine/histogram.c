/* gst-spdl: a distribution of times in constant memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/histogram.h"

#include <math.h>

void
spdl_histogram_merge (SpdlHistogram *self, const SpdlHistogram *other)
{
  if (other->count == 0)
    return;

  self->min = self->count == 0 ? other->min : MIN (self->min, other->min);
  self->max = MAX (self->max, other->max);
  self->count += other->count;
  self->sum += other->sum;
  for (guint i = 0; i < SPDL_HISTOGRAM_N_BUCKETS; i++)
    self->buckets[i] += other->buckets[i];
}

guint64
spdl_histogram_mean (const SpdlHistogram *self)
{
  return self->count == 0 ? 0 : self->sum / self->count;
}

static guint64
bucket_middle (guint bucket)
{
  const guint sub = SPDL_HISTOGRAM_SUB_BITS;

  if (bucket < (1u << sub))
    return bucket;

  const guint shift = (bucket >> sub) - 1;
  const guint64 low = (guint64) ((1u << sub) + (bucket & ((1u << sub) - 1)))
                      << shift;
  return low + ((G_GUINT64_CONSTANT (1) << shift) >> 1);
}

guint64
spdl_histogram_quantile (const SpdlHistogram *self, double q)
{
  if (self->count == 0)
    return 0;

  const guint64 rank = CLAMP (ceil (q * self->count), 1, self->count);
  guint64 seen = 0;
  guint i = 0;

  while (i < SPDL_HISTOGRAM_N_BUCKETS - 1 && (seen += self->buckets[i]) < rank)
    i++;
  return CLAMP (bucket_middle (i), self->min, self->max);
}
