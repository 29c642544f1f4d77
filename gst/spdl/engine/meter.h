/* gst-spdl: counters of a stage, by interval and in total
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/engine/trace.h"
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Only for tests/benchmarks/bench-statistics: a build without counters and
 * clock reads, for measuring the cost of the statistics. */
#ifdef SPDL_STATISTICS_OFF
#define SPDL_STATISTICS_ARE_OFF 1
#else
#define SPDL_STATISTICS_ARE_OFF 0
#endif

/* A log-linear histogram. Values below 32 have one bucket each. Above, each
 * power of two is split into 32 buckets of equal width, up to 2^42 ns (73
 * minutes); the last bucket takes all larger values.
 *
 * Error: count, sum, mean, minimum and maximum are exact. A quantile is the
 * middle of the bucket that contains the sample of that rank, so its relative
 * error is at most 1/64 (1.6 %) for any distribution. It never lies outside the
 * range of the samples, so a single sample is exact.
 *
 * Cost: one increment per sample, compared to some tens of times that for
 * P-square with its five markers per quantile. Two histograms can be added,
 * which is how an interval becomes part of the total. Not thread-safe. */

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
void spdl_histogram_merge (SpdlHistogram *self, const SpdlHistogram *other);

/* Returns the mean, rounded down; 0 without samples. */
guint64 spdl_histogram_mean (const SpdlHistogram *self);

/* Returns the sample of rank ceil (@q * count), within the error above; 0
 * without samples. @q is in 0 to 1. */
guint64 spdl_histogram_quantile (const SpdlHistogram *self, double q);

/* Counters of one element. Each value is recorded once, in the current
 * interval; ending an interval adds it to the total. A meter has no lock: a
 * stage calls it with the lock of its engine held, other elements with a
 * separate lock. All times are in ns on the meter's clock. The caller reads the
 * clock, because it often has the time already. */

typedef struct {
  guint64 tasks;
  guint64 failures;
  guint64 filtered;
  guint64 items;
  guint64 batches;
  guint64 unpooled;    /* batches for which the pool had no memory */
  guint64 cached;      /* batches that were replayed by a cache */
  guint64 worker_time; /* that workers of another stage spent on its work */
  guint64 worker_wait; /* time in which it waited for them */
  guint64 bytes_in;
  guint64 bytes_out;
  guint64 occupied; /* time in which something waited in the queue */
  guint64 pushing;  /* time in which a result was being pushed downstream */
  SpdlHistogram task_time; /* of tasks without a failure */
  SpdlHistogram put_time;
  SpdlHistogram get_time;
  SpdlHistogram step_time; /* of the trainer, between two waits for a batch */
  SpdlHistogram latency;
} SpdlCounters;

typedef struct {
  SpdlClock clock;
  const gchar *track; /* nullable: in a trace; set before the start */
  guint64 started;
  guint64 interval_started;
  guint64 stopped; /* 0 while running */
  guint64 cpu_at_interval;
  gboolean occupied;
  guint64 occupied_since; /* not before interval_started */
  gboolean pushing;
  guint64 pushing_since; /* not before interval_started */
  guint64 changed;       /* when @pushing changed; 0: unknown */
  guint64 last_pull;     /* when the trainer got its last batch; 0: never */
  guint64 waited;        /* since then, in pulls without a batch */
  SpdlCounters interval;
  SpdlCounters total; /* of all intervals that have ended */
} SpdlMeter;

/* Result of a snapshot. */
typedef struct {
  gboolean interval;
  guint64 elapsed;
  guint64 num_tasks, num_failures, num_filtered;
  guint64 ave_time, p90_time, p99_time, cpu_time;
  guint64 num_items, num_batches, num_unpooled, num_cached, bytes_in, bytes_out;
  guint64 worker_time, worker_wait;
  double qps;
  guint64 ave_put_time, p90_put_time, p99_put_time;
  guint64 ave_get_time, p90_get_time, p99_get_time;
  guint64 ave_step_time, p50_step_time, p99_step_time;
  double occupancy_rate, push_rate;
  guint64 ave_latency, p99_latency;
} SpdlMeterStats;

/* Starts the first interval. @clock: (nullable): NULL: the monotonic clock */
void spdl_meter_start (SpdlMeter *self, const SpdlClock *clock);

/* Stops the clock: later snapshots have the same values. */
void spdl_meter_stop (SpdlMeter *self, guint64 now);

static inline guint64
spdl_meter_now (const SpdlMeter *self)
{
  return SPDL_STATISTICS_ARE_OFF ? 0 : spdl_clock_now (&self->clock);
}

/* Records that the queue is occupied from @now on, or empty. */
static inline void
spdl_meter_set_occupied (SpdlMeter *self, gboolean occupied, guint64 now)
{
  if (SPDL_STATISTICS_ARE_OFF || self->occupied == occupied)
    return;
  if (self->occupied && now > self->occupied_since)
    self->interval.occupied += now - self->occupied_since;
  self->occupied = occupied;
  self->occupied_since = MAX (now, self->interval_started);
}

/* Records whether a result is being pushed downstream from @now on. Called by
 * the thread that pushes. */
static inline void
spdl_meter_set_pushing (SpdlMeter *self, gboolean pushing, guint64 now)
{
  if (SPDL_STATISTICS_ARE_OFF)
    return;
  if (self->pushing && now > self->pushing_since)
    self->interval.pushing += now - self->pushing_since;
  if (G_UNLIKELY (self->track)) {
    if (self->changed > 0)
      spdl_trace_add (self->track,
          self->pushing ? SPDL_TRACE_PUSH : SPDL_TRACE_NO_RESULT, self->changed,
          now, G_MAXUINT64, 0);
    self->changed = now;
  }
  self->pushing = pushing;
  self->pushing_since = MAX (now, self->interval_started);
}

/* Records a pull from @before to @now that timed out. The next pull continues
 * its wait. */
static inline void
spdl_meter_waited (SpdlMeter *self, guint64 before, guint64 now)
{
  self->waited += now - before;
}

/* Records a pull from @before to @now that returned a batch. The time between
 * two batches is either waiting or the trainer's step. */
void spdl_meter_pulled (SpdlMeter *self, guint64 before, guint64 now);

/* Records a pull that returned something else, such as the end of an epoch. It
 * counts neither as a wait nor as part of a step. */
void spdl_meter_passed (SpdlMeter *self, guint64 before, guint64 now);

/* Fills in @stats, of this interval or since the start.
 *
 * @cpu_time: CPU time of the element's workers since the start, in ns */
void spdl_meter_snapshot (SpdlMeter *self, gboolean interval, guint64 now,
    guint64 cpu_time, SpdlMeterStats *stats);

/* Adds the interval to the total and starts the next one. */
void spdl_meter_end_interval (SpdlMeter *self, guint64 now, guint64 cpu_time);

SPDL_END_PRIVATE_API
G_END_DECLS
