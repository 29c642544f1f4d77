/* gst-spdl: a stage's engine, where tasks begin and end
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor-private.h"

/* Slots */

static gpointer *
acquire_slot (SpdlExecutor *self)
{
  if (self->free_slots->len > 0)
    return g_ptr_array_steal_index_fast (
        self->free_slots, self->free_slots->len - 1);
  self->n_slots++;
  return g_new0 (gpointer, 1);
}

static void
close_slot (SpdlExecutor *self, gpointer *slot)
{
  if (*slot)
    self->funcs->close_slot (self->user_data, *slot);
  g_free (slot);
}

/* Lock held; released meanwhile where a slot is one too many. */
static void
release_slot (SpdlExecutor *self, gpointer *slot)
{
  if (G_LIKELY (self->n_slots <= self->concurrency)) {
    g_ptr_array_add (self->free_slots, slot);
    return;
  }
  self->n_slots--;
  spdl_mutex_unlock (&self->pool->lock);
  close_slot (self, slot);
  spdl_mutex_lock (&self->pool->lock);
}

void
spdl_executor_close_slots (SpdlExecutor *self)
{
  for (guint i = 0; i < self->free_slots->len; i++)
    close_slot (self, g_ptr_array_index (self->free_slots, i));
  g_ptr_array_set_size (self->free_slots, 0);
  self->n_slots = 0;
}

/* Tasks */

/* The oldest task that waits, or the next part of one. Lock held. */
static SpdlTask *
take_waiting (SpdlExecutor *self)
{
  SpdlTask *whole = self->partial;
  SpdlTask *part;

  if (!whole)
    whole = (SpdlTask *) spdl_ring_begin (&self->ring);
  if (whole->n_parts == 0)
    return whole;

  part = whole->parts[whole->n_begun++];
  part->whole = whole;
  self->partial = whole->n_begun < whole->n_parts ? whole : NULL;
  return part;
}

/* How long the thread, or the place in which a task runs that goes on without a
 * thread, had nothing to do. Lock held. */
static guint64
end_idleness (SpdlExecutor *self, SpdlPoolThread *thread)
{
  guint64 waited = 0;

  if (thread->waited) {
    const guint64 now = spdl_meter_now (&self->meter);

    if (thread->since != 0)
      waited = now - thread->since;
    thread->since = now;
    thread->waited = FALSE;
  }
  if (!self->hands_over)
    return waited;

  /* The thread waited for a place too, which is none of the figures. */
  if (self->idle_since->len == 0)
    return 0;
  const guint64 since =
      g_array_index (self->idle_since, guint64, self->idle_since->len - 1);
  g_array_set_size (self->idle_since, self->idle_since->len - 1);
  return MAX (thread->since, since) - since;
}

/* Begins a task. Lock held. */
static SpdlTask *
begin_task (SpdlExecutor *self, SpdlPoolThread *thread)
{
  SpdlTask *task = take_waiting (self);
  const guint64 waited = end_idleness (self, thread);

  self->n_running++;
  spdl_histogram_add (&self->meter.lap.get_time, waited);
  self->meter.lap.items += task->n_items;
  if (!spdl_executor_is_occupied (self))
    spdl_meter_set_occupied (&self->meter, FALSE, thread->since);
  return task;
}

/* All parts of @whole are done. Lock held. */
static void
finish_whole (SpdlExecutor *self, SpdlTask *whole)
{
  self->room_taken += whole->n_parts;
  spdl_ring_finish (&self->ring, &whole->entry);
}

/* One part of @whole is done. Lock held. */
static void
finish_part_of (SpdlExecutor *self, SpdlTask *whole)
{
  self->room_taken--;
  if (++whole->n_done == whole->n_parts)
    finish_whole (self, whole);
}

/* Lock held. */
static void
finish_task (SpdlExecutor *self, SpdlTask *task, guint64 took)
{
  SpdlCounters *lap = &self->meter.lap;

  lap->tasks++;
  lap->failures += task->n_failed;
  lap->filtered += task->n_filtered;
  lap->bytes_out += task->bytes_out;
  if (task->n_failed == 0)
    spdl_histogram_add (&lap->task_time, took);
  /* A single long one, which may just have been interrupted, counts little. */
  self->recent_time -= self->recent_time / 8;
  self->recent_time += MIN (took, 4 * SPDL_EXECUTOR_SHORT_TASK) / 8;
  self->usual_time -= self->usual_time / 8;
  self->usual_time +=
      MIN (took, SPDL_EXECUTOR_KEEP_BACK * self->concurrency) / 8;
  /* On a shared pool, other stages' tasks may be long. */
  if (!self->pool->name)
    self->pool->short_tasks = self->recent_time < SPDL_EXECUTOR_SHORT_TASK;
  if (task->whole)
    finish_part_of (self, task->whole);
  else
    spdl_ring_finish (&self->ring, &task->entry);
  if (--self->n_running == 0 && self->flushing)
    spdl_cond_broadcast (&self->quiet);
}

void
spdl_executor_finish (SpdlExecutor *self, SpdlTask *task)
{
  SpdlPool *pool = self->pool;
  SpdlCond *call = NULL;

  spdl_mutex_lock (&pool->lock);
  const guint64 now = spdl_meter_now (&self->meter);
  self->hands_over = TRUE;
  if (self->idle_since->len < self->concurrency)
    g_array_append_val (self->idle_since, now);
  finish_task (self, task, now - task->since);
  if (spdl_executor_is_runnable (&self->client))
    call = spdl_pool_call_thread_unlocked (pool);
  /* Once the lock is released, executor and pool may be gone. */
  if (spdl_executor_should_wake_taker (self))
    spdl_cond_signal (&self->ready);
  if (spdl_executor_should_wake_putter (self))
    spdl_cond_signal (&self->room);
  if (call)
    spdl_cond_signal (call);
  spdl_mutex_unlock (&pool->lock);
}

static guint64
own_cpu_time (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return spdl_timespec_to_ns (&ts);
}

void
spdl_executor_run (SpdlPoolClient *client, SpdlPoolThread *thread)
{
  SpdlExecutor *self = (SpdlExecutor *) client;
  SpdlPool *pool = self->pool;
  const gboolean shared = pool->name != NULL;
  SpdlTask *task = begin_task (self, thread);
  gpointer *slot = acquire_slot (self);
  SpdlCond *call = spdl_pool_has_work_unlocked (pool)
                       ? spdl_pool_call_thread_unlocked (pool)
                       : NULL;
  const gboolean room = spdl_executor_should_wake_putter (self);
  SpdlCond *pending = thread->pending;
  guint64 cpu_before = 0, cpu_after = 0;
  gboolean done;

  thread->pending = NULL;
  spdl_mutex_unlock (&pool->lock);
  if (pending)
    spdl_cond_signal (pending);
  if (call)
    spdl_cond_signal (call);
  if (room)
    spdl_cond_signal (&self->room);
  /* A signal may take longer than a task, whose time it is not. */
  if (pending || call || room)
    thread->since = spdl_meter_now (&self->meter);

  if (shared)
    cpu_before = own_cpu_time ();
  const guint64 begun = task->since = thread->since;
  done = self->funcs->run (self->user_data, task, slot);
  if (shared)
    cpu_after = own_cpu_time ();

  thread->since = spdl_meter_now (&self->meter);
  spdl_mutex_lock (&pool->lock);
  release_slot (self, slot);
  self->cpu_time += cpu_after - cpu_before;
  if (done)
    finish_task (self, task, thread->since - begun);
  /* A part that is done makes room before anything is taken. */
  if (done && task->whole && spdl_executor_should_wake_putter (self))
    spdl_cond_signal (&self->room);
  if (!done || !spdl_executor_should_wake_taker (self))
    return;
  /* The threads of a shared pool may outlive this executor, so there the
   * signal must not wait for the lock to be released. */
  if (shared)
    spdl_cond_signal (&self->ready);
  else
    thread->pending = &self->ready;
}

void
spdl_executor_cut_partial (SpdlExecutor *self)
{
  SpdlTask *whole = self->partial;

  if (!whole)
    return;
  self->partial = NULL;
  self->room_taken -= whole->n_parts - whole->n_begun;
  whole->n_parts = whole->n_begun;
  if (whole->n_done == whole->n_parts)
    finish_whole (self, whole);
}
