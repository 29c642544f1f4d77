/* gst-spdl: a distribution of times in constant memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* For tests/benchmarks/bench-statistics alone: a build that counts nothing and
 * reads no clock, against which the statistics' cost is measured. */
#ifdef SPDL_STATISTICS_OFF
#define SPDL_STATISTICS_ARE_OFF 1
#else
#define SPDL_STATISTICS_ARE_OFF 0
#endif

/* Method: a log-linear histogram. Values under 32 have a bucket each; above,
 * each power of two is split into 32 buckets of equal width, up to 2^42 ns
 * (73 minutes), where the last bucket takes all.
 *
 * Error: count, sum, mean, least and greatest are exact. A quantile is the
 * middle of the bucket that holds the sample of that rank, so it is off by at
 * most 1/64 (1.6 %) of its value, whatever the distribution; it never lies
 * outside the least and the greatest sample, so a single sample is exact.
 *
 * Cost: one increment a sample (P-square, with its five markers for each
 * quantile, takes some tens of times that), and two histograms add up, which
 * is how a lap becomes part of the total. Not thread-safe. */

#define SPDL_HISTOGRAM_SUB_BITS 5
#define SPDL_HISTOGRAM_MAX_BITS 42
#define SPDL_HISTOGRAM_N_BUCKETS                           \
  ((SPDL_HISTOGRAM_MAX_BITS - SPDL_HISTOGRAM_SUB_BITS + 1) \
      << SPDL_HISTOGRAM_SUB_BITS)

typedef struct {
  guint64 count;
  guint64 sum;
  guint64 min;
  guint64 max;
  guint64 buckets[SPDL_HISTOGRAM_N_BUCKETS];
} SpdlHistogram;

static inline guint
spdl_histogram_bucket_of (guint64 value)
{
  const guint sub = SPDL_HISTOGRAM_SUB_BITS;

  if (value < (1u << sub))
    return value;
  if (value >> SPDL_HISTOGRAM_MAX_BITS)
    return SPDL_HISTOGRAM_N_BUCKETS - 1;

  const guint shift = 63 - __builtin_clzll (value) - sub;
  return ((shift + 1) << sub) + ((value >> shift) & ((1u << sub) - 1));
}

static inline void
spdl_histogram_add (SpdlHistogram *self, guint64 value)
{
  if (SPDL_STATISTICS_ARE_OFF)
    return;
  if (self->count == 0 || value < self->min)
    self->min = value;
  if (value > self->max)
    self->max = value;
  self->count++;
  self->sum += value;
  self->buckets[spdl_histogram_bucket_of (value)]++;
}

/* Adds all samples of @other to @self. */
SPDL_PRIVATE_API
void spdl_histogram_merge (SpdlHistogram *self, const SpdlHistogram *other);

/* The mean, rounded down; 0 without samples. */
SPDL_PRIVATE_API
guint64 spdl_histogram_mean (const SpdlHistogram *self);

/* The sample of rank ceil (@q * count), within the error above; 0 without
 * samples. @q is in 0 to 1. */
SPDL_PRIVATE_API
guint64 spdl_histogram_quantile (const SpdlHistogram *self, double q);

G_END_DECLS
