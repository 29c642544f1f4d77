/* gst-spdl: what a stage counts, by lap and in all
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
  memset (self, 0, sizeof *self);
  if (clock)
    self->clock = *clock;
  self->started = self->lap_started = spdl_meter_now (self);
}

void
spdl_meter_stop (SpdlMeter *self, guint64 now)
{
  if (self->stopped != 0)
    return;
  spdl_meter_set_occupied (self, FALSE, now);
  spdl_meter_set_pushing (self, FALSE, now);
  self->stopped = now;
}

void
spdl_meter_pulled (SpdlMeter *self, guint64 before, guint64 now)
{
  const guint64 wait = now - before + self->waited;

  spdl_histogram_add (&self->lap.get_time, wait);
  /* Where several threads pull, their steps are not known. */
  if (self->last_pull > 0 && self->last_pull + wait <= now)
    spdl_histogram_add (&self->lap.step_time, now - self->last_pull - wait);
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
figures_from_counters (SpdlFigures *figures, const SpdlCounters *counters)
{
  const double elapsed = figures->elapsed;

  figures->num_tasks = counters->tasks;
  figures->num_failures = counters->failures;
  figures->num_filtered = counters->filtered;
  figures->ave_time = spdl_histogram_mean (&counters->task_time);
  figures->p90_time = spdl_histogram_quantile (&counters->task_time, 0.90);
  figures->p99_time = spdl_histogram_quantile (&counters->task_time, 0.99);
  figures->num_items = counters->items;
  figures->num_batches = counters->batches;
  figures->num_unpooled = counters->unpooled;
  figures->num_cached = counters->cached;
  figures->bytes_in = counters->bytes_in;
  figures->bytes_out = counters->bytes_out;
  figures->qps = elapsed > 0 ? counters->items * 1e9 / elapsed : 0;
  figures->ave_put_time = spdl_histogram_mean (&counters->put_time);
  figures->p90_put_time = spdl_histogram_quantile (&counters->put_time, 0.90);
  figures->p99_put_time = spdl_histogram_quantile (&counters->put_time, 0.99);
  figures->ave_get_time = spdl_histogram_mean (&counters->get_time);
  figures->p90_get_time = spdl_histogram_quantile (&counters->get_time, 0.90);
  figures->p99_get_time = spdl_histogram_quantile (&counters->get_time, 0.99);
  figures->ave_step_time = spdl_histogram_mean (&counters->step_time);
  figures->p50_step_time = spdl_histogram_quantile (&counters->step_time, 0.50);
  figures->p99_step_time = spdl_histogram_quantile (&counters->step_time, 0.99);
  figures->occupancy_rate =
      elapsed > 0 ? MIN (counters->occupied / elapsed, 1.0) : 0;
  figures->push_rate = elapsed > 0 ? MIN (counters->pushing / elapsed, 1.0) : 0;
  figures->ave_latency = spdl_histogram_mean (&counters->latency);
  figures->p99_latency = spdl_histogram_quantile (&counters->latency, 0.99);
}

/* The time that is still running belongs to the lap that runs. */
static void
settle (SpdlMeter *self, guint64 now)
{
  if (self->occupied && now > self->occupied_since) {
    self->lap.occupied += now - self->occupied_since;
    self->occupied_since = now;
  }
  if (self->pushing && now > self->pushing_since) {
    self->lap.pushing += now - self->pushing_since;
    self->pushing_since = now;
  }
}

void
spdl_meter_snapshot (SpdlMeter *self, gboolean lap, guint64 now,
    guint64 cpu_time, SpdlFigures *figures)
{
  if (self->started == 0)
    now = 0;
  else if (self->stopped != 0)
    now = self->stopped;
  settle (self, now);

  memset (figures, 0, sizeof *figures);
  figures->lap = lap;
  figures->elapsed = now - (lap ? self->lap_started : self->started);
  figures->cpu_time = cpu_time - (lap ? self->cpu_at_lap : 0);

  if (lap) {
    figures_from_counters (figures, &self->lap);
  } else {
    SpdlCounters *all = g_memdup2 (&self->total, sizeof self->total);

    counters_merge (all, &self->lap);
    figures_from_counters (figures, all);
    g_free (all);
  }
}

void
spdl_meter_end_lap (SpdlMeter *self, guint64 now, guint64 cpu_time)
{
  settle (self, now);
  counters_merge (&self->total, &self->lap);
  memset (&self->lap, 0, sizeof self->lap);
  self->lap_started = now;
  self->cpu_at_lap = cpu_time;
}
