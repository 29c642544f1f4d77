/* gst-spdl: numbers in the statistics of spdlfetch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  SPDL_COUNT_CACHE_HITS,
  SPDL_COUNT_CACHE_MISSES,
  SPDL_COUNT_CACHE_BYTES,  /* served from the cache */
  SPDL_COUNT_CACHE_ERRORS, /* items that could not be stored */
  SPDL_COUNT_HTTP_TIME,    /* CPU time of the client's threads, ns */
  SPDL_COUNT_RATE_LIMITED, /* responses with 429 or 503 */
  SPDL_COUNT_RATE_TIME,    /* pauses of all origins, ns */
  SPDL_COUNT_HEDGES,       /* second requests, see hedge.h */
  SPDL_COUNT_HEDGES_WON,   /* answered before the first request */
  SPDL_N_COUNTS,
} SpdlCount;

/* Written by any thread, and read at any time. Atomic. */
typedef struct {
  guint64 numbers[SPDL_N_COUNTS];
  const gchar *rate_limit; /* nullable, static: origin and its limit */
} SpdlCounts;

/* Adds to a number of @self (nullable), and returns the sum. */
static inline guint64
spdl_counts_add (SpdlCounts *self, SpdlCount i, guint64 number)
{
  return self ? __atomic_add_fetch (&self->numbers[i], number, __ATOMIC_RELAXED)
              : 0;
}

G_END_DECLS
