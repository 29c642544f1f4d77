/* gst-spdl: an executor's inside, which its files share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_EXECUTOR_PRIVATE_H__
#define __SPDL_EXECUTOR_PRIVATE_H__

#include "gst/spdl/engine/executor.h"

G_BEGIN_DECLS

/* executor.c is what comes in and goes out: put and take.
 * executorwork.c is the workers' side, where tasks begin and end.
 * executorlife.c is its start and its ends: stop, flush and close.
 * executorwatch.c is its limits and figures. */

/* Marks and barriers that may be held beyond one for each task. */
#define SPDL_EXECUTOR_SPARE_OTHERS 16

/* Tasks that take less than this are cheaper to run one after the other than to
 * wake another thread for, in ns. */
#define SPDL_EXECUTOR_SHORT_TASK 5000

/* How long a result may be kept back, in ns, for the thread in take() to be
 * woken for several at once: with images of half a millisecond a wake-up for
 * each is a twentieth of all. */
#define SPDL_EXECUTOR_KEEP_BACK 4000000

/* The workers' side. Lock held. */

/* Of SpdlPoolClient: runs a task. */
void spdl_executor_run (SpdlPoolClient *client, SpdlPoolThread *thread);
/* Of a task that has begun, parts that have not never will. */
void spdl_executor_cut_partial (SpdlExecutor *self);
/* Without the lock, where no task is running. */
void spdl_executor_close_slots (SpdlExecutor *self);

/* What is asked for each item is inline. Lock held. */

/* Whether something waits to be begun. */
static inline gboolean
spdl_executor_has_waiting (const SpdlExecutor *self)
{
  return self->partial || self->ring.n_queued > 0;
}

/* Whether something waits in front of the workers: in the queue or, where that
 * is full (of what downstream does not take, perhaps), before it. */
static inline gboolean
spdl_executor_is_occupied (const SpdlExecutor *self)
{
  return self->putter_waits || spdl_executor_has_waiting (self);
}

/* Of SpdlPoolClient: whether a task may begin. */
static inline gboolean
spdl_executor_is_runnable (SpdlPoolClient *client)
{
  SpdlExecutor *self = (SpdlExecutor *) client;

  return spdl_executor_has_waiting (self) && !self->flushing &&
         self->n_running < MIN (self->concurrency, self->allowed);
}

/* The room that a task takes which has not begun or which is done. */
static inline guint
spdl_executor_size_of (const SpdlTask *task)
{
  return MAX (task->n_parts, 1);
}

static inline guint
spdl_executor_get_capacity (const SpdlExecutor *self)
{
  return self->concurrency + self->queue_size;
}

static inline gboolean
spdl_executor_has_room (const SpdlExecutor *self, const SpdlEntry *entry)
{
  if (entry->kind != SPDL_ENTRY_TASK)
    return self->n_others_held <
           spdl_executor_get_capacity (self) + SPDL_EXECUTOR_SPARE_OTHERS;
  if (self->room_taken >= spdl_executor_get_capacity (self))
    return FALSE;
  /* One that is larger than the bound goes alone. */
  return self->max_bytes == 0 || self->room_taken == 0 ||
         self->bytes_held + entry->bytes <= self->max_bytes;
}

/* Whether to wake the thread that waits in put(). Waking costs more than a
 * short task, so it comes when half of the queue is free, or when no task is
 * left that a worker could begin. */
static inline gboolean
spdl_executor_should_wake_putter (SpdlExecutor *self)
{
  const SpdlEntry *entry = self->waiting;
  const guint enough = MAX (self->queue_size / 2, 1);

  if (!entry || !spdl_executor_has_room (self, entry))
    return FALSE;
  if (entry->kind == SPDL_ENTRY_TASK && self->max_bytes == 0 &&
      self->room_taken + enough > spdl_executor_get_capacity (self) &&
      spdl_executor_has_waiting (self))
    return FALSE;
  self->waiting = NULL;
  return TRUE;
}

/* Whether to wake the thread that waits in take(). It asks for some results at
 * once only where it does not wait for long; where no task is left that a
 * worker could begin, less are all that there will be. */
static inline gboolean
spdl_executor_should_wake_taker (SpdlExecutor *self)
{
  if (!self->taker_waits || !(spdl_ring_ready (&self->ring) || self->closed))
    return FALSE;
  if (!self->closed && self->ring.n_done < self->taker_wants &&
      spdl_executor_has_waiting (self) &&
      self->ring.head->kind == SPDL_ENTRY_TASK)
    return FALSE;
  self->taker_waits = FALSE;
  return TRUE;
}

/* What @passed took. */
static inline void
spdl_executor_give_back (SpdlExecutor *self, const SpdlEntry *passed)
{
  if (passed->kind == SPDL_ENTRY_TASK) {
    self->room_taken -= spdl_executor_size_of ((const SpdlTask *) passed);
    self->bytes_held -= passed->bytes;
  } else {
    self->n_others_held--;
  }
}

G_END_DECLS

#endif /* __SPDL_EXECUTOR_PRIVATE_H__ */
