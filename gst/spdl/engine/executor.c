/* gst-spdl: a stage's engine: a bounded queue, workers, results in order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor-private.h"

/* Waits for room and returns how long. Lock held. */
static guint64
wait_for_room (SpdlExecutor *self, const SpdlEntry *entry)
{
  guint64 since = 0;

  while (!self->flushing && !self->closed &&
         !spdl_executor_has_room (self, entry)) {
    if (since == 0) {
      since = spdl_meter_now (&self->meter);
      self->putter_waits = entry->kind == SPDL_ENTRY_TASK;
      if (self->putter_waits)
        spdl_meter_set_occupied (&self->meter, TRUE, since);
    }
    self->waiting = entry;
    spdl_cond_wait (&self->room, &self->pool->lock);
  }
  self->waiting = NULL;
  if (since == 0)
    return 0;

  self->putter_waits = FALSE;
  return spdl_meter_now (&self->meter) - since;
}

/* Lock held. Returns whether there is new work. */
static gboolean
put_task (SpdlExecutor *self, SpdlTask *task, guint64 waited)
{
  const gboolean first = !spdl_executor_is_occupied (self);

  self->room_taken += spdl_executor_size_of (task);
  self->bytes_held += task->entry.bytes;
  spdl_histogram_add (&self->meter.lap.put_time, waited);
  self->meter.lap.bytes_in += task->entry.bytes;
  if (first)
    spdl_meter_set_occupied (&self->meter, TRUE, spdl_meter_now (&self->meter));
  spdl_ring_put (&self->ring, &task->entry);
  return spdl_executor_is_runnable (&self->client);
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
    ready = spdl_executor_should_wake_taker (self);
  }
  spdl_mutex_unlock (&self->pool->lock);

  if (call)
    spdl_cond_signal (call);
  if (ready)
    spdl_cond_signal (&self->ready);
  return status;
}

/* Of results that are worth a wake-up together, those that come within
 * SPDL_EXECUTOR_KEEP_BACK, up to half of the queue. Lock held. */
static guint
count_worth_waking (const SpdlExecutor *self)
{
  const guint64 time = MAX (self->usual_time, SPDL_EXECUTOR_SHORT_TASK);

  return MIN (
      SPDL_EXECUTOR_KEEP_BACK * self->concurrency / time, self->queue_size / 2);
}

/* While tasks run, for so long only that results may be kept back. Lock
 * held. */
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

/* Waits for an entry that is due. Lock held. */
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
  gboolean room = FALSE;

  spdl_mutex_lock (&self->pool->lock);
  /* Where the next one is there, it goes on without a look at the clock. */
  if (passed && !spdl_ring_ready (&self->ring))
    spdl_meter_set_pushing (&self->meter, FALSE, spdl_meter_now (&self->meter));
  if (passed && !self->flushing) {
    spdl_executor_give_back (self, passed);
    room = spdl_executor_should_wake_putter (self);
  }
  if (room && !spdl_ring_ready (&self->ring)) {
    /* About to sleep: the signal must come first. */
    spdl_cond_signal (&self->room);
    room = FALSE;
  }
  entry = wait_for_entry (self, status);
  if ((entry != NULL) != self->meter.pushing)
    spdl_meter_set_pushing (
        &self->meter, entry != NULL, spdl_meter_now (&self->meter));
  spdl_mutex_unlock (&self->pool->lock);

  if (room)
    spdl_cond_signal (&self->room);
  return entry;
}
