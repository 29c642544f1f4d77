/* gst-spdl: work of another element in the threads of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/guest.h"

#include "gst/spdl/engine/clock.h"

/* Time in ns after which the guest's thread does work that no other takes. */
#define PATIENCE 4000000

static const SpdlClock monotonic = { 0 };

static gboolean
is_runnable (SpdlPoolClient *client)
{
  return ((SpdlGuest *) client)->first != NULL;
}

/* Takes and does a piece of work. Lock held; released meanwhile.
 *
 * @thread: (nullable): NULL: the guest's own */
static void
run_first (SpdlGuest *self, SpdlPoolThread *thread)
{
  SpdlPool *pool = self->pool;
  SpdlGuestWork *work = self->first;
  SpdlCond *pending = thread ? g_steal_pointer (&thread->pending) : NULL;
  SpdlCond *call;

  self->first = work->next;
  self->n_taken++;
  call = thread && spdl_pool_has_work_unlocked (pool)
             ? spdl_pool_wake_thread_unlocked (pool)
             : NULL;
  spdl_mutex_unlock (&pool->lock);
  if (pending)
    spdl_cond_signal (pending);
  if (call)
    spdl_cond_signal (call);
  work->run (work);
  spdl_mutex_lock (&pool->lock);
  if (--self->n_left == 0)
    spdl_cond_signal (&self->done);
}

/* Implements SpdlPoolClient. The time of the work does not count as idle. */
static void
run_in_pool (SpdlPoolClient *client, SpdlPoolThread *thread)
{
  SpdlGuest *self = (SpdlGuest *) client;
  const guint64 begun = spdl_clock_now (&monotonic);

  run_first (self, thread);
  const guint64 took = spdl_clock_now (&monotonic) - begun;
  self->work_time += took;
  if (thread->waited && thread->since != 0)
    thread->since += took;
}

void
spdl_guest_init (SpdlGuest *self)
{
  *self = (SpdlGuest){ .client = { 0, is_runnable, run_in_pool } };
  spdl_cond_init (&self->done);
}

void
spdl_guest_clear (SpdlGuest *self)
{
  spdl_guest_join (self, NULL);
  spdl_cond_clear (&self->done);
}

void
spdl_guest_join (SpdlGuest *self, SpdlPool *pool)
{
  SpdlPool *former = self->pool;

  if (former) {
    spdl_guest_wait (self);
    spdl_pool_remove_client (former, &self->client);
    spdl_pool_unref (former);
  }
  self->pool = pool;
  if (pool)
    spdl_pool_add_guest (pool, &self->client);
}

void
spdl_guest_give (SpdlGuest *self, SpdlGuestWork *work)
{
  SpdlCond *call;

  work->next = NULL;
  spdl_mutex_lock (&self->pool->lock);
  if (self->first)
    self->last->next = work;
  else
    self->first = work;
  self->last = work;
  self->n_left++;
  call = spdl_pool_wake_thread_unlocked (self->pool);
  spdl_mutex_unlock (&self->pool->lock);
  if (call)
    spdl_cond_signal (call);
}

guint64
spdl_guest_wait (SpdlGuest *self)
{
  gboolean patient = TRUE;
  guint64 work_time;

  if (!self->pool)
    return 0;
  spdl_mutex_lock (&self->pool->lock);
  while (self->n_left > 0) {
    const guint taken = self->n_taken;

    if (self->first && !patient) {
      run_first (self, NULL);
      continue;
    }
    spdl_cond_wait_for (&self->done, &self->pool->lock, PATIENCE);
    patient = self->n_taken != taken;
  }
  work_time = self->work_time;
  self->work_time = 0;
  spdl_mutex_unlock (&self->pool->lock);
  return work_time;
}
