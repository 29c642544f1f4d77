/* gst-spdl: a stage's engine, for those who watch and steer it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor-private.h"

#include <string.h>

/* Limits */

/* Both locks held. */
static void
limits_changed (SpdlExecutor *self)
{
  SpdlCond *call = NULL;

  if (!self->pool->name)
    spdl_pool_set_max_threads_unlocked (self->pool, self->concurrency);
  spdl_cond_broadcast (&self->room);
  if (spdl_executor_is_runnable (&self->client))
    call = spdl_pool_call_thread_unlocked (self->pool);
  if (call)
    spdl_cond_signal (call);
}

void
spdl_executor_set_limits (
    SpdlExecutor *self, guint concurrency, guint queue_size, guint64 max_bytes)
{
  spdl_mutex_lock (&self->pool_lock);
  if (self->pool)
    spdl_mutex_lock (&self->pool->lock);
  self->concurrency = concurrency;
  self->queue_size = queue_size;
  self->max_bytes = max_bytes;
  if (self->pool) {
    limits_changed (self);
    spdl_mutex_unlock (&self->pool->lock);
  }
  spdl_mutex_unlock (&self->pool_lock);
}

void
spdl_executor_allow (SpdlExecutor *self, guint n)
{
  SpdlCond *call = NULL;

  spdl_mutex_lock (&self->pool_lock);
  if (self->pool) {
    spdl_mutex_lock (&self->pool->lock);
    self->allowed = n;
    if (spdl_executor_is_runnable (&self->client))
      call = spdl_pool_call_thread_unlocked (self->pool);
    spdl_mutex_unlock (&self->pool->lock);
    if (call)
      spdl_cond_signal (call);
  } else {
    self->allowed = n;
  }
  spdl_mutex_unlock (&self->pool_lock);
}

/* Figures */

guint64
spdl_executor_get_cpu_time_unlocked (SpdlExecutor *self)
{
  guint64 sum = self->cpu_time;

  if (!self->pool)
    return sum;
  if (!self->pool->name)
    sum = spdl_pool_get_cpu_time_unlocked (self->pool);
  if (self->funcs->cpu_time)
    sum += self->funcs->cpu_time (self->user_data);
  return sum;
}

static void
add_up (SpdlLap *counts, const SpdlCounters *counters)
{
  counts->items += counters->items;
  counts->tasks += counters->tasks;
  counts->timed += counters->task_time.count;
  counts->task_time += counters->task_time.sum;
  counts->occupied += counters->occupied;
  counts->pushing += counters->pushing;
}

/* Both locks held, where there is a pool. */
static guint
count_unlocked (SpdlExecutor *self, SpdlLap *counts)
{
  const SpdlMeter *meter = &self->meter;
  const guint64 now = spdl_meter_now (meter);

  add_up (counts, &meter->total);
  add_up (counts, &meter->lap);
  /* What is still running. */
  if (meter->occupied && now > meter->occupied_since)
    counts->occupied += now - meter->occupied_since;
  if (meter->pushing && now > meter->pushing_since)
    counts->pushing += now - meter->pushing_since;
  counts->cpu_time = spdl_executor_get_cpu_time_unlocked (self);
  return self->n_running;
}

guint
spdl_executor_count (SpdlExecutor *self, SpdlLap *counts)
{
  guint n_running;

  memset (counts, 0, sizeof *counts);
  spdl_mutex_lock (&self->pool_lock);
  if (self->pool)
    spdl_mutex_lock (&self->pool->lock);
  n_running = count_unlocked (self, counts);
  if (self->pool)
    spdl_mutex_unlock (&self->pool->lock);
  spdl_mutex_unlock (&self->pool_lock);
  return n_running;
}

static void
snapshot_unlocked (SpdlExecutor *self, gboolean lap, SpdlFigures *figures)
{
  const guint64 now = spdl_meter_now (&self->meter);
  const guint64 cpu_time = spdl_executor_get_cpu_time_unlocked (self);

  spdl_meter_snapshot (&self->meter, lap, now, cpu_time, figures);
  if (lap)
    spdl_meter_end_lap (&self->meter, now, cpu_time);
}

static void
snapshot (SpdlExecutor *self, gboolean lap, SpdlFigures *figures)
{
  spdl_mutex_lock (&self->pool_lock);
  if (self->pool)
    spdl_mutex_lock (&self->pool->lock);
  snapshot_unlocked (self, lap, figures);
  if (self->pool)
    spdl_mutex_unlock (&self->pool->lock);
  spdl_mutex_unlock (&self->pool_lock);
}

void
spdl_executor_end_lap (SpdlExecutor *self, SpdlFigures *figures)
{
  snapshot (self, TRUE, figures);
}

void
spdl_executor_get_figures (SpdlExecutor *self, SpdlFigures *figures)
{
  snapshot (self, FALSE, figures);
}
