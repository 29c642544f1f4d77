/* gst-spdl: counters of a stage, by interval and in total
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/meter.h"

#include <math.h>
#include <string.h>

/* Histograms */

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

void
spdl_meter_start (SpdlMeter *self, const SpdlClock *clock)
{
  const gchar *track = self->track;

  memset (self, 0, sizeof *self);
  self->track = track;
  if (clock)
    self->clock = *clock;
  self->started = self->interval_started = spdl_meter_now (self);
}

void
spdl_meter_stop (SpdlMeter *self, guint64 now)
{
  if (self->stopped != 0)
    return;
  self->track = NULL; /* another thread may have pushed */
  spdl_meter_set_occupied (self, FALSE, now);
  spdl_meter_set_pushing (self, FALSE, now);
  self->stopped = now;
}

void
spdl_meter_pulled (SpdlMeter *self, guint64 before, guint64 now)
{
  const guint64 wait = now - before + self->waited;

  spdl_histogram_add (&self->interval.get_time, wait);
  if (G_UNLIKELY (self->track)) {
    if (self->last_pull > 0 && self->last_pull <= before)
      spdl_trace_add (self->track, SPDL_TRACE_STEP, self->last_pull, before,
          G_MAXUINT64, 0);
    spdl_trace_add (
        self->track, SPDL_TRACE_NO_BATCH, before, now, G_MAXUINT64, 0);
  }
  /* If several threads pull, the duration of their steps is unknown. */
  if (self->last_pull > 0 && self->last_pull + wait <= now)
    spdl_histogram_add (
        &self->interval.step_time, now - self->last_pull - wait);
  self->last_pull = now;
  self->waited = 0;
}

void
spdl_meter_passed (SpdlMeter *self, guint64 before, guint64 now)
{
  if (self->last_pull > 0)
    self->last_pull += now - before + self->waited;
  self->waited = 0;
}

static void
counters_merge (SpdlCounters *self, const SpdlCounters *other)
{
  self->tasks += other->tasks;
  self->failures += other->failures;
  self->filtered += other->filtered;
  self->items += other->items;
  self->batches += other->batches;
  self->unpooled += other->unpooled;
  self->cached += other->cached;
  self->worker_time += other->worker_time;
  self->worker_wait += other->worker_wait;
  self->bytes_in += other->bytes_in;
  self->bytes_out += other->bytes_out;
  self->occupied += other->occupied;
  self->pushing += other->pushing;
  spdl_histogram_merge (&self->task_time, &other->task_time);
  spdl_histogram_merge (&self->put_time, &other->put_time);
  spdl_histogram_merge (&self->get_time, &other->get_time);
  spdl_histogram_merge (&self->step_time, &other->step_time);
  spdl_histogram_merge (&self->latency, &other->latency);
}

static void
figures_from_counters (SpdlMeterStats *stats, const SpdlCounters *counters)
{
  const double elapsed = stats->elapsed;

  stats->num_tasks = counters->tasks;
  stats->num_failures = counters->failures;
  stats->num_filtered = counters->filtered;
  stats->ave_time = spdl_histogram_mean (&counters->task_time);
  stats->p90_time = spdl_histogram_quantile (&counters->task_time, 0.90);
  stats->p99_time = spdl_histogram_quantile (&counters->task_time, 0.99);
  stats->num_items = counters->items;
  stats->num_batches = counters->batches;
  stats->num_unpooled = counters->unpooled;
  stats->num_cached = counters->cached;
  stats->worker_time = counters->worker_time;
  stats->worker_wait = counters->worker_wait;
  stats->bytes_in = counters->bytes_in;
  stats->bytes_out = counters->bytes_out;
  stats->qps = elapsed > 0 ? counters->items * 1e9 / elapsed : 0;
  stats->ave_put_time = spdl_histogram_mean (&counters->put_time);
  stats->p90_put_time = spdl_histogram_quantile (&counters->put_time, 0.90);
  stats->p99_put_time = spdl_histogram_quantile (&counters->put_time, 0.99);
  stats->ave_get_time = spdl_histogram_mean (&counters->get_time);
  stats->p90_get_time = spdl_histogram_quantile (&counters->get_time, 0.90);
  stats->p99_get_time = spdl_histogram_quantile (&counters->get_time, 0.99);
  stats->ave_step_time = spdl_histogram_mean (&counters->step_time);
  stats->p50_step_time = spdl_histogram_quantile (&counters->step_time, 0.50);
  stats->p99_step_time = spdl_histogram_quantile (&counters->step_time, 0.99);
  stats->occupancy_rate =
      elapsed > 0 ? MIN (counters->occupied / elapsed, 1.0) : 0;
  stats->push_rate = elapsed > 0 ? MIN (counters->pushing / elapsed, 1.0) : 0;
  stats->ave_latency = spdl_histogram_mean (&counters->latency);
  stats->p99_latency = spdl_histogram_quantile (&counters->latency, 0.99);
}

/* Adds the current time span to the current interval. */
static void
settle_time (SpdlMeter *self, guint64 now)
{
  if (self->occupied && now > self->occupied_since) {
    self->interval.occupied += now - self->occupied_since;
    self->occupied_since = now;
  }
  if (self->pushing && now > self->pushing_since) {
    self->interval.pushing += now - self->pushing_since;
    self->pushing_since = now;
  }
}

void
spdl_meter_snapshot (SpdlMeter *self, gboolean interval, guint64 now,
    guint64 cpu_time, SpdlMeterStats *stats)
{
  if (self->started == 0)
    now = 0;
  else if (self->stopped != 0)
    now = self->stopped;
  settle_time (self, now);

  memset (stats, 0, sizeof *stats);
  stats->interval = interval;
  stats->elapsed = now - (interval ? self->interval_started : self->started);
  stats->cpu_time = cpu_time - (interval ? self->cpu_at_interval : 0);

  if (interval) {
    figures_from_counters (stats, &self->interval);
  } else {
    SpdlCounters *all = g_memdup2 (&self->total, sizeof self->total);

    counters_merge (all, &self->interval);
    figures_from_counters (stats, all);
    g_free (all);
  }
}

void
spdl_meter_end_interval (SpdlMeter *self, guint64 now, guint64 cpu_time)
{
  settle_time (self, now);
  counters_merge (&self->total, &self->interval);
  memset (&self->interval, 0, sizeof self->interval);
  self->interval_started = now;
  self->cpu_at_interval = cpu_time;
}
