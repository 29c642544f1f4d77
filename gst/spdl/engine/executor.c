/* gst-spdl: engine of a stage: bounded queue, workers, ordered results
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor.h"

#include <string.h>

/* Number of marks and barriers that may be held in addition to one per task. */
#define SPDL_EXECUTOR_SPARE_OTHERS 16

/* Duration in ns below which running tasks one after the other costs less than
 * waking another thread. */
#define SPDL_EXECUTOR_SHORT_TASK 5000

/* Maximum delay of a result, in ns, to wake the thread in take() once for
 * several results. With images of 0.5 ms, one wake-up per image would cost 5 %
 * of the time. */
#define SPDL_EXECUTOR_KEEP_BACK 4000000

/* Functions that run for each item are inline. All are called with the lock
 * held. */

/* Returns TRUE if a task is queued. */
static inline gboolean
has_waiting (const SpdlExecutor *self)
{
  return self->partial || self->ring.n_queued > 0;
}

/* Returns TRUE if a task waits for a worker: in the queue or, if the queue is
 * full, before it. */
static inline gboolean
is_occupied (const SpdlExecutor *self)
{
  return self->putter_waits || has_waiting (self);
}

/* Implements SpdlPoolClient: returns TRUE if a task may start. */
static inline gboolean
is_runnable (SpdlPoolClient *client)
{
  SpdlExecutor *self = (SpdlExecutor *) client;

  return has_waiting (self) && !self->flushing &&
         self->n_running < MIN (self->client.concurrency, self->allowed);
}

/* Returns the queue space of a task that has not started or is done. */
static inline guint
size_of (const SpdlTask *task)
{
  return MAX (task->n_parts, 1);
}

static inline guint
get_capacity (const SpdlExecutor *self)
{
  return self->client.concurrency + self->queue_size;
}

static inline gboolean
has_room (const SpdlExecutor *self, const SpdlEntry *entry)
{
  if (entry->kind != SPDL_ENTRY_TASK)
    return self->n_others_held <
           get_capacity (self) + SPDL_EXECUTOR_SPARE_OTHERS;
  if (self->room_taken >= get_capacity (self))
    return FALSE;
  /* An entry that exceeds the limit alone is accepted if the queue is empty. */
  return self->max_bytes == 0 || self->room_taken == 0 ||
         self->bytes_held + entry->bytes <= self->max_bytes;
}

/* Returns TRUE if the thread in put() should be woken. Waking costs more than a
 * short task, so it happens when half of the queue is free or no task is left
 * to start. */
static inline gboolean
should_wake_putter (SpdlExecutor *self)
{
  const SpdlEntry *entry = self->waiting;
  const guint enough = MAX (self->queue_size / 2, 1);

  if (!entry || !has_room (self, entry))
    return FALSE;
  if (entry->kind == SPDL_ENTRY_TASK && self->max_bytes == 0 &&
      self->room_taken + enough > get_capacity (self) && has_waiting (self))
    return FALSE;
  self->waiting = NULL;
  return TRUE;
}

/* Returns TRUE if the thread in take() should be woken. Several results are
 * collected for one wake-up only if the wait for them is short. If no task is
 * left to start, fewer results are enough. */
static inline gboolean
should_wake_taker (SpdlExecutor *self)
{
  if (!self->taker_waits || !(spdl_ring_ready (&self->ring) || self->closed))
    return FALSE;
  if (!self->closed && self->ring.n_done < self->taker_wants &&
      has_waiting (self) && self->ring.head->kind == SPDL_ENTRY_TASK)
    return FALSE;
  self->taker_waits = FALSE;
  return TRUE;
}

/* Releases the queue space of @passed. */
static inline void
give_back (SpdlExecutor *self, const SpdlEntry *passed)
{
  if (passed->kind == SPDL_ENTRY_TASK) {
    self->room_taken -= size_of ((const SpdlTask *) passed);
    self->bytes_held -= passed->bytes;
  } else {
    self->n_others_held--;
  }
}

/* Waits for queue space and returns the time waited, in ns. Lock held. */
static guint64
wait_for_room (SpdlExecutor *self, const SpdlEntry *entry)
{
  guint64 since = 0;

  while (!self->flushing && !self->closed && !has_room (self, entry)) {
    if (since == 0) {
      since = spdl_meter_now (&self->meter);
      self->putter_waits = entry->kind == SPDL_ENTRY_TASK;
      if (self->putter_waits)
        spdl_meter_set_occupied (&self->meter, TRUE, since);
    }
    self->waiting = entry;
    spdl_cond_wait (&self->has_room, &self->pool->lock);
  }
  self->waiting = NULL;
  if (since == 0)
    return 0;

  const guint64 now = spdl_meter_now (&self->meter);

  self->putter_waits = FALSE;
  if (G_UNLIKELY (self->meter.track))
    spdl_trace_add (
        self->meter.track, SPDL_TRACE_NO_ROOM, since, now, G_MAXUINT64, 0);
  return now - since;
}

/* Queues a task. Lock held. Returns TRUE if workers have new work. */
static gboolean
put_task (SpdlExecutor *self, SpdlTask *task, guint64 waited)
{
  const gboolean first = !is_occupied (self);

  self->room_taken += size_of (task);
  self->bytes_held += task->entry.bytes;
  spdl_histogram_add (&self->meter.interval.put_time, waited);
  self->meter.interval.bytes_in += task->entry.bytes;
  if (first)
    spdl_meter_set_occupied (&self->meter, TRUE, spdl_meter_now (&self->meter));
  spdl_ring_put (&self->ring, &task->entry);
  return is_runnable (&self->client);
}

SpdlExecutorStatus
spdl_executor_put (SpdlExecutor *self, SpdlEntry *entry)
{
  gboolean ready = FALSE;
  SpdlCond *call = NULL;
  SpdlExecutorStatus status = SPDL_EXECUTOR_OK;

  spdl_mutex_lock (&self->pool->lock);
  const guint64 waited = wait_for_room (self, entry);
  if (self->flushing) {
    status = SPDL_EXECUTOR_FLUSHING;
  } else if (self->closed) {
    status = SPDL_EXECUTOR_CLOSED;
  } else if (entry->kind == SPDL_ENTRY_TASK) {
    if (put_task (self, (SpdlTask *) entry, waited))
      call = spdl_pool_call_thread_unlocked (self->pool);
  } else {
    self->n_others_held++;
    spdl_ring_put (&self->ring, entry);
    ready = should_wake_taker (self);
  }
  spdl_mutex_unlock (&self->pool->lock);

  if (call)
    spdl_cond_signal (call);
  if (ready)
    spdl_cond_signal (&self->ready);
  return status;
}

/* Counts the results that are worth a common wake-up: those expected within
 * SPDL_EXECUTOR_KEEP_BACK, up to half of the queue. Lock held. */
static guint
count_worth_waking (const SpdlExecutor *self)
{
  const guint64 time = MAX (self->usual_time, SPDL_EXECUTOR_SHORT_TASK);

  return MIN (SPDL_EXECUTOR_KEEP_BACK * self->client.concurrency / time,
      self->queue_size / 2);
}

/* Sleeps until a result is ready; while tasks run, at most as long as results
 * may be delayed. Lock held. */
static void
sleep_until_ready (SpdlExecutor *self)
{
  const guint worth = count_worth_waking (self);

  self->taker_waits = TRUE;
  self->taker_wants = self->n_running > 0 ? worth : 1;
  if (self->taker_wants > 1)
    spdl_cond_wait_for (
        &self->ready, &self->pool->lock, 2 * SPDL_EXECUTOR_KEEP_BACK);
  else
    spdl_cond_wait (&self->ready, &self->pool->lock);
  self->taker_waits = FALSE;
}

/* Waits for the next entry that may leave. Lock held. */
static SpdlEntry *
wait_for_entry (SpdlExecutor *self, SpdlExecutorStatus *status)
{
  SpdlEntry *entry = NULL;

  *status = SPDL_EXECUTOR_OK;
  while (TRUE) {
    if (self->flushing) {
      *status = SPDL_EXECUTOR_FLUSHING;
      break;
    }
    if ((entry = spdl_ring_pop (&self->ring)))
      break;
    if (self->closed && !self->ring.head) {
      *status = SPDL_EXECUTOR_CLOSED;
      break;
    }
    sleep_until_ready (self);
  }
  return entry;
}

SpdlEntry *
spdl_executor_take (
    SpdlExecutor *self, SpdlEntry *passed, SpdlExecutorStatus *status)
{
  SpdlEntry *entry;
  gboolean wake = FALSE;

  spdl_mutex_lock (&self->pool->lock);
  /* If the next entry is ready, skip reading the clock. */
  if (passed && !spdl_ring_ready (&self->ring))
    spdl_meter_set_pushing (&self->meter, FALSE, spdl_meter_now (&self->meter));
  if (passed && !self->flushing) {
    give_back (self, passed);
    wake = should_wake_putter (self);
  }
  if (wake && !spdl_ring_ready (&self->ring)) {
    /* The thread is about to sleep, so signal first. */
    spdl_cond_signal (&self->has_room);
    wake = FALSE;
  }
  entry = wait_for_entry (self, status);
  if ((entry != NULL) != self->meter.pushing)
    spdl_meter_set_pushing (
        &self->meter, entry != NULL, spdl_meter_now (&self->meter));
  spdl_mutex_unlock (&self->pool->lock);

  if (wake)
    spdl_cond_signal (&self->has_room);
  return entry;
}

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

/* Returns a slot. Lock held; it is released while a surplus slot is closed. */
static void
release_slot (SpdlExecutor *self, gpointer *slot)
{
  if (G_LIKELY (self->n_slots <= self->client.concurrency)) {
    g_ptr_array_add (self->free_slots, slot);
    return;
  }
  self->n_slots--;
  spdl_mutex_unlock (&self->pool->lock);
  close_slot (self, slot);
  spdl_mutex_lock (&self->pool->lock);
}

/* Closes all slots. Called without the lock, while no task is running. */
static void
close_slots (SpdlExecutor *self)
{
  for (guint i = 0; i < self->free_slots->len; i++)
    close_slot (self, g_ptr_array_index (self->free_slots, i));
  g_ptr_array_set_size (self->free_slots, 0);
  self->n_slots = 0;
}

/* Tasks */

/* Takes the oldest queued task, or its next part. Lock held. */
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

/* Ends the idle time of the thread, or of the place of an asynchronous task,
 * and returns it in ns. Lock held. */
static guint64
end_idleness (SpdlExecutor *self, SpdlPoolThread *thread)
{
  guint64 waited = 0;

  if (thread->waited) {
    const guint64 now = spdl_meter_now (&self->meter);

    if (thread->since != 0) {
      waited = now - thread->since;
      if (G_UNLIKELY (self->meter.track))
        spdl_trace_add (self->meter.track, SPDL_TRACE_NO_ITEM, thread->since,
            now, G_MAXUINT64, 0);
    }
    thread->since = now;
    thread->waited = FALSE;
  }
  if (!self->hands_over)
    return waited;

  /* The thread also waited for such a place, which does not count as idle. */
  if (self->idle_since->len == 0)
    return 0;
  const guint64 since =
      g_array_index (self->idle_since, guint64, self->idle_since->len - 1);
  g_array_set_size (self->idle_since, self->idle_since->len - 1);
  return MAX (thread->since, since) - since;
}

/* Starts a task. Lock held. */
static SpdlTask *
begin_task (SpdlExecutor *self, SpdlPoolThread *thread)
{
  SpdlTask *task = take_waiting (self);
  const guint64 waited = end_idleness (self, thread);

  self->n_running++;
  self->n_inside++;
  spdl_histogram_add (&self->meter.interval.get_time, waited);
  self->meter.interval.items += task->n_items;
  if (!is_occupied (self))
    spdl_meter_set_occupied (&self->meter, FALSE, thread->since);
  return task;
}

/* Finishes @whole after all of its parts are done. Lock held. */
static void
finish_whole (SpdlExecutor *self, SpdlTask *whole)
{
  self->room_taken += whole->n_parts;
  spdl_ring_finish (&self->ring, &whole->entry);
}

/* Counts a finished part of @whole. Lock held. */
static void
finish_part_of (SpdlExecutor *self, SpdlTask *whole)
{
  self->room_taken--;
  if (++whole->n_done == whole->n_parts)
    finish_whole (self, whole);
}

/* Finishes a task that took @took ns. Lock held. */
static void
finish_task (SpdlExecutor *self, SpdlTask *task, guint64 took)
{
  SpdlCounters *interval = &self->meter.interval;

  interval->tasks++;
  interval->failures += task->n_failed;
  interval->filtered += task->n_filtered;
  interval->bytes_out += task->bytes_out;
  if (task->n_failed == 0)
    spdl_histogram_add (&interval->task_time, took);
  /* Limit the weight of a single long task, which may just have been
   * interrupted. */
  self->recent_time -= self->recent_time / 8;
  self->recent_time += MIN (took, 4 * SPDL_EXECUTOR_SHORT_TASK) / 8;
  self->usual_time -= self->usual_time / 8;
  self->usual_time +=
      MIN (took, SPDL_EXECUTOR_KEEP_BACK * self->client.concurrency) / 8;
  spdl_pool_set_short_tasks_unlocked (
      self->pool, self->recent_time < SPDL_EXECUTOR_SHORT_TASK);
  if (task->whole)
    finish_part_of (self, task->whole);
  else
    spdl_ring_finish (&self->ring, &task->entry);
  if (--self->n_running == 0 && self->flushing)
    spdl_cond_broadcast (&self->is_idle);
}

void
spdl_executor_finish (SpdlExecutor *self, SpdlTask *task)
{
  SpdlPool *pool = self->pool;
  SpdlCond *call = NULL;

  spdl_mutex_lock (&pool->lock);
  const guint64 now = spdl_meter_now (&self->meter);
  self->hands_over = TRUE;
  if (self->idle_since->len < self->client.concurrency)
    g_array_append_val (self->idle_since, now);
  if (G_UNLIKELY (self->meter.track))
    spdl_trace_add (self->meter.track, SPDL_TRACE_ASYNC_TASK, task->since, now,
        task->number, task->n_items);
  finish_task (self, task, now - task->since);
  if (is_runnable (&self->client))
    call = spdl_pool_call_thread_unlocked (pool);
  /* Once the lock is released, executor and pool may be gone. */
  if (should_wake_taker (self))
    spdl_cond_signal (&self->ready);
  if (should_wake_putter (self))
    spdl_cond_signal (&self->has_room);
  if (call)
    spdl_cond_signal (call);
  spdl_mutex_unlock (&pool->lock);
}

/* Returns the CPU time of this thread, if the pool does not count it. */
static inline guint64
read_cpu_time (const SpdlPool *pool)
{
  struct timespec ts;

  if (spdl_pool_get_size (pool) == 0)
    return 0;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return spdl_timespec_to_ns (&ts);
}

/* Releases the lock, and wakes the threads for which there is work. */
static inline void
leave_lock (SpdlExecutor *self, SpdlPoolThread *thread)
{
  SpdlPool *pool = self->pool;
  SpdlCond *call = spdl_pool_has_work_unlocked (pool)
                       ? spdl_pool_call_thread_unlocked (pool)
                       : NULL;
  const gboolean wake = should_wake_putter (self);
  SpdlCond *pending = thread->pending;

  thread->pending = NULL;
  spdl_mutex_unlock (&pool->lock);
  if (pending)
    spdl_cond_signal (pending);
  if (call)
    spdl_cond_signal (call);
  if (wake)
    spdl_cond_signal (&self->has_room);
  /* Signalling may take longer than a task, and must not count as its time. */
  if (pending || call || wake)
    thread->since = spdl_meter_now (&self->meter);
}

/* Ends a task that has run in @thread since @begun. Lock held. */
static inline void
end_task (
    SpdlExecutor *self, SpdlPoolThread *thread, SpdlTask *task, guint64 begun)
{
  if (G_UNLIKELY (self->meter.track))
    spdl_trace_add (self->meter.track, SPDL_TRACE_TASK, begun, thread->since,
        task->number, task->n_items);
  finish_task (self, task, thread->since - begun);
  /* Wake the thread in put() for a finished part before the next task is
   * taken. */
  if (task->whole && should_wake_putter (self))
    spdl_cond_signal (&self->has_room);
  if (should_wake_taker (self))
    spdl_pool_signal_later_unlocked (self->pool, thread, &self->ready);
}

/* Implements SpdlPoolClient: runs a task. */
static void
run_task (SpdlPoolClient *client, SpdlPoolThread *thread)
{
  SpdlExecutor *self = (SpdlExecutor *) client;
  SpdlPool *pool = self->pool;
  SpdlTask *task = begin_task (self, thread);
  gpointer *slot = acquire_slot (self);
  gboolean done;

  leave_lock (self, thread);
  const guint64 cpu_before = read_cpu_time (pool);
  const guint64 begun = task->since = thread->since;
  done = self->funcs->run (self->user_data, task, slot);
  const guint64 cpu_time = read_cpu_time (pool) - cpu_before;

  thread->since = spdl_meter_now (&self->meter);
  spdl_mutex_lock (&pool->lock);
  release_slot (self, slot);
  self->cpu_time += cpu_time;
  self->n_inside--;
  if (done)
    end_task (self, thread, task, begun);
  else if (self->flushing)
    /* The task may have ended elsewhere before. */
    spdl_cond_broadcast (&self->is_idle);
}

/* Cancels the parts of the current task that have not started. */
static void
cut_partial (SpdlExecutor *self)
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

/* Start, stop, flush and close */

void
spdl_executor_init (
    SpdlExecutor *self, const SpdlExecutorFuncs *funcs, gpointer user_data)
{
  memset (self, 0, sizeof *self);
  self->client.runnable = is_runnable;
  self->client.run = run_task;
  self->funcs = funcs;
  self->user_data = user_data;
  self->client.concurrency = 1;
  self->allowed = G_MAXUINT;
  self->flushing = TRUE;
  self->free_slots = g_ptr_array_new ();
  self->idle_since = g_array_new (FALSE, FALSE, sizeof (guint64));
  spdl_mutex_init (&self->pool_lock);
  spdl_cond_init (&self->has_room);
  spdl_cond_init (&self->ready);
  spdl_cond_init (&self->is_idle);
}

void
spdl_executor_clear (SpdlExecutor *self)
{
  g_assert (self->pool == NULL);

  g_ptr_array_unref (self->free_slots);
  g_array_unref (self->idle_since);
  spdl_mutex_clear (&self->pool_lock);
  spdl_cond_clear (&self->has_room);
  spdl_cond_clear (&self->ready);
  spdl_cond_clear (&self->is_idle);
}

static void
discard_all (SpdlExecutor *self, SpdlEntry *list)
{
  for (SpdlEntry *next; list; list = next) {
    next = list->next;
    self->funcs->discard (self->user_data, list);
  }
}

/* Waits until no task is running and no thread is inside of run_task(), and
 * discards all entries. Lock held; released meanwhile. */
static void
empty_unlocked (SpdlExecutor *self)
{
  SpdlEntry *all;

  g_assert (self->flushing);

  while (self->n_running > 0 || self->n_inside > 0)
    spdl_cond_wait (&self->is_idle, &self->pool->lock);
  self->partial = NULL;
  self->putter_waits = FALSE;
  all = self->ring.head;
  spdl_ring_init (&self->ring, self->ring.order);
  spdl_meter_set_occupied (&self->meter, FALSE, spdl_meter_now (&self->meter));
  self->room_taken = self->n_others_held = 0;
  self->bytes_held = 0;
  self->closed = FALSE;

  spdl_mutex_unlock (&self->pool->lock);
  discard_all (self, all);
  spdl_mutex_lock (&self->pool->lock);
}

void
spdl_executor_start (
    SpdlExecutor *self, SpdlPool *pool, SpdlOrder order, const SpdlClock *clock)
{
  g_assert (self->pool == NULL);

  spdl_mutex_lock (&self->pool_lock);
  spdl_ring_init (&self->ring, order);
  spdl_meter_start (&self->meter, clock);
  self->cpu_time = 0;
  self->closed = FALSE;
  self->waiting = NULL;
  self->putter_waits = FALSE;
  self->taker_waits = FALSE;
  self->hands_over = FALSE;
  g_array_set_size (self->idle_since, 0);
  self->recent_time = 4 * SPDL_EXECUTOR_SHORT_TASK; /* unknown */
  self->usual_time = SPDL_EXECUTOR_KEEP_BACK * self->client.concurrency;
  self->flushing = FALSE;
  self->pool = pool;
  spdl_pool_add_client (pool, &self->client);
  spdl_mutex_unlock (&self->pool_lock);
}

SpdlPool *
spdl_executor_ref_pool (SpdlExecutor *self)
{
  SpdlPool *pool;

  spdl_mutex_lock (&self->pool_lock);
  pool = self->pool ? spdl_pool_ref (self->pool) : NULL;
  spdl_mutex_unlock (&self->pool_lock);
  return pool;
}

/* Returns the CPU time of all workers since the start, in ns. Both locks held
 * if there is a pool. */
static guint64
get_cpu_time (SpdlExecutor *self)
{
  guint64 sum = self->cpu_time;

  if (!self->pool)
    return sum;
  sum += spdl_pool_get_cpu_time_unlocked (self->pool);
  if (self->funcs->cpu_time)
    sum += self->funcs->cpu_time (self->user_data);
  return sum;
}

void
spdl_executor_stop (SpdlExecutor *self)
{
  if (!self->pool)
    return;

  spdl_executor_flush_start (self);
  spdl_mutex_lock (&self->pool->lock);
  empty_unlocked (self);
  spdl_meter_stop (&self->meter, spdl_meter_now (&self->meter));
  self->cpu_time = get_cpu_time (self);
  spdl_mutex_unlock (&self->pool->lock);

  spdl_pool_remove_client (self->pool, &self->client);
  /* Its threads may still signal conditions of the executor. */
  if (spdl_pool_get_size (self->pool) == 0)
    spdl_pool_end (self->pool);
  spdl_mutex_lock (&self->pool_lock);
  g_clear_pointer (&self->pool, spdl_pool_unref);
  spdl_mutex_unlock (&self->pool_lock);
  close_slots (self);
}

static void
wake_all (SpdlExecutor *self)
{
  spdl_cond_broadcast (&self->has_room);
  spdl_cond_broadcast (&self->ready);
}

void
spdl_executor_flush_start (SpdlExecutor *self)
{
  spdl_mutex_lock (&self->pool_lock);
  if (self->pool) {
    spdl_mutex_lock (&self->pool->lock);
    self->flushing = TRUE;
    wake_all (self);
    spdl_mutex_unlock (&self->pool->lock);
  }
  spdl_mutex_unlock (&self->pool_lock);
}

void
spdl_executor_flush_stop (SpdlExecutor *self)
{
  spdl_mutex_lock (&self->pool->lock);
  self->flushing = TRUE;
  empty_unlocked (self);
  self->flushing = FALSE;
  spdl_mutex_unlock (&self->pool->lock);
}

void
spdl_executor_close (SpdlExecutor *self)
{
  SpdlEntry *dropped = NULL;

  spdl_mutex_lock (&self->pool_lock);
  if (self->pool) {
    spdl_mutex_lock (&self->pool->lock);
    self->closed = TRUE;
    cut_partial (self);
    dropped = spdl_ring_drop_queued (&self->ring);
    for (SpdlEntry *entry = dropped; entry; entry = entry->next)
      give_back (self, entry);
    self->putter_waits = FALSE;
    spdl_meter_set_occupied (
        &self->meter, FALSE, spdl_meter_now (&self->meter));
    wake_all (self);
    spdl_mutex_unlock (&self->pool->lock);
  }
  spdl_mutex_unlock (&self->pool_lock);

  discard_all (self, dropped);
}

/* Limits */

/* Locks the executor, which may have no pool. */
static void
lock_both (SpdlExecutor *self)
{
  spdl_mutex_lock (&self->pool_lock);
  if (self->pool)
    spdl_mutex_lock (&self->pool->lock);
}

static void
unlock_both (SpdlExecutor *self)
{
  if (self->pool)
    spdl_mutex_unlock (&self->pool->lock);
  spdl_mutex_unlock (&self->pool_lock);
}

/* Starts tasks that a changed limit allows. Both locks held. */
static void
run_allowed (SpdlExecutor *self)
{
  SpdlCond *call = self->pool && is_runnable (&self->client)
                       ? spdl_pool_call_thread_unlocked (self->pool)
                       : NULL;

  if (call)
    spdl_cond_signal (call);
}

void
spdl_executor_set_concurrency (SpdlExecutor *self, guint concurrency)
{
  lock_both (self);
  self->client.concurrency = concurrency;
  if (self->pool)
    spdl_pool_concurrency_changed_unlocked (self->pool);
  spdl_cond_broadcast (&self->has_room);
  run_allowed (self);
  unlock_both (self);
}

guint
spdl_executor_get_concurrency (SpdlExecutor *self)
{
  guint concurrency;

  lock_both (self);
  concurrency = self->client.concurrency;
  unlock_both (self);
  return concurrency;
}

void
spdl_executor_set_limits (
    SpdlExecutor *self, guint queue_size, guint64 max_bytes)
{
  lock_both (self);
  self->queue_size = queue_size;
  self->max_bytes = max_bytes;
  spdl_cond_broadcast (&self->has_room);
  unlock_both (self);
}

void
spdl_executor_allow (SpdlExecutor *self, guint n)
{
  lock_both (self);
  self->allowed = n;
  run_allowed (self);
  unlock_both (self);
}

/* Statistics */

static void
add_up (SpdlInterval *counts, const SpdlCounters *counters)
{
  counts->items += counters->items;
  counts->tasks += counters->tasks;
  counts->timed += counters->task_time.count;
  counts->task_time += counters->task_time.sum;
  counts->occupied += counters->occupied;
  counts->pushing += counters->pushing;
}

/* Counts since the start. Both locks held if there is a pool. */
static guint
count_unlocked (SpdlExecutor *self, SpdlInterval *counts)
{
  const SpdlMeter *meter = &self->meter;
  const guint64 now = spdl_meter_now (meter);

  add_up (counts, &meter->total);
  add_up (counts, &meter->interval);
  /* Add the time spans that have not ended. */
  if (meter->occupied && now > meter->occupied_since)
    counts->occupied += now - meter->occupied_since;
  if (meter->pushing && now > meter->pushing_since)
    counts->pushing += now - meter->pushing_since;
  counts->cpu_time = get_cpu_time (self);
  return self->n_running;
}

guint
spdl_executor_count (SpdlExecutor *self, SpdlInterval *counts)
{
  guint n_running;

  memset (counts, 0, sizeof *counts);
  lock_both (self);
  n_running = count_unlocked (self, counts);
  unlock_both (self);
  return n_running;
}

void
spdl_executor_take_figures (
    SpdlExecutor *self, gboolean interval, SpdlMeterStats *stats)
{
  lock_both (self);
  const guint64 now = spdl_meter_now (&self->meter);
  const guint64 cpu_time = get_cpu_time (self);

  spdl_meter_snapshot (&self->meter, interval, now, cpu_time, stats);
  if (interval)
    spdl_meter_end_interval (&self->meter, now, cpu_time);
  unlock_both (self);
}
