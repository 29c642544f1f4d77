/* gst-spdl: a stage's engine, from its start to its end
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/executor-private.h"

#include <string.h>

void
spdl_executor_init (
    SpdlExecutor *self, const SpdlExecutorFuncs *funcs, gpointer user_data)
{
  memset (self, 0, sizeof *self);
  self->client.runnable = spdl_executor_is_runnable;
  self->client.run = spdl_executor_run;
  self->funcs = funcs;
  self->user_data = user_data;
  self->concurrency = 1;
  self->allowed = G_MAXUINT;
  self->flushing = TRUE;
  self->free_slots = g_ptr_array_new ();
  self->idle_since = g_array_new (FALSE, FALSE, sizeof (guint64));
  spdl_mutex_init (&self->pool_lock);
  spdl_cond_init (&self->room);
  spdl_cond_init (&self->ready);
  spdl_cond_init (&self->quiet);
}

void
spdl_executor_clear (SpdlExecutor *self)
{
  g_assert (self->pool == NULL);

  g_ptr_array_unref (self->free_slots);
  g_array_unref (self->idle_since);
  spdl_mutex_clear (&self->pool_lock);
  spdl_cond_clear (&self->room);
  spdl_cond_clear (&self->ready);
  spdl_cond_clear (&self->quiet);
}

static void
discard_all (SpdlExecutor *self, SpdlEntry *list)
{
  for (SpdlEntry *next; list; list = next) {
    next = list->next;
    self->funcs->discard (self->user_data, list);
  }
}

/* Waits until no task is running and discards all entries. Lock held;
 * released meanwhile. */
static void
empty_unlocked (SpdlExecutor *self)
{
  SpdlEntry *all;

  g_assert (self->flushing);

  while (self->n_running > 0)
    spdl_cond_wait (&self->quiet, &self->pool->lock);
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
  self->recent_time = 4 * SPDL_EXECUTOR_SHORT_TASK; /* not known */
  self->usual_time = SPDL_EXECUTOR_KEEP_BACK * self->concurrency;
  self->flushing = FALSE;
  self->pool = pool;
  if (!pool->name)
    pool->max_threads = self->concurrency;
  spdl_pool_add_client (pool, &self->client);
  spdl_mutex_unlock (&self->pool_lock);
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
  self->cpu_time = spdl_executor_get_cpu_time_unlocked (self);
  spdl_mutex_unlock (&self->pool->lock);

  spdl_pool_remove_client (self->pool, &self->client);
  spdl_mutex_lock (&self->pool_lock);
  g_clear_pointer (&self->pool, spdl_pool_unref);
  spdl_mutex_unlock (&self->pool_lock);
  spdl_executor_close_slots (self);
}

static void
wake_all (SpdlExecutor *self)
{
  spdl_cond_broadcast (&self->room);
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
    spdl_executor_cut_partial (self);
    dropped = spdl_ring_drop_queued (&self->ring);
    for (SpdlEntry *entry = dropped; entry; entry = entry->next)
      spdl_executor_give_back (self, entry);
    self->putter_waits = FALSE;
    spdl_meter_set_occupied (
        &self->meter, FALSE, spdl_meter_now (&self->meter));
    wake_all (self);
    spdl_mutex_unlock (&self->pool->lock);
  }
  spdl_mutex_unlock (&self->pool_lock);

  discard_all (self, dropped);
}
