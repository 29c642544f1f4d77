/* gst-spdl: thread pool for blocking work
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/threadpool.h"

#include <time.h>

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/engine/sync.h"

typedef struct {
  SpdlThreadPoolFunc func;
  gpointer data;
} Job;

struct _SpdlThreadPool {
  gchar *name;
  guint max_threads;

  SpdlMutex lock; /* protects the following fields: */
  SpdlCond cond;
  GQueue queue; /* of Job */
  GPtrArray *threads;
  guint n_idle;
  gboolean quit;
  guint64 cpu_time;
};

static guint64
get_thread_time (void)
{
  struct timespec ts;

  return clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts) == 0
             ? spdl_timespec_to_ns (&ts)
             : 0;
}

/* Runs the next job. Lock held on entry and exit, and released while the job
 * runs. */
static void
run_one (SpdlThreadPool *self)
{
  Job *job = g_queue_pop_head (&self->queue);
  guint64 begun;

  spdl_mutex_unlock (&self->lock);
  begun = get_thread_time ();
  job->func (job->data);
  g_free (job);
  begun = get_thread_time () - begun;
  spdl_mutex_lock (&self->lock);
  self->cpu_time += begun;
}

static gpointer
run_thread (gpointer data)
{
  SpdlThreadPool *self = data;

  spdl_mutex_lock (&self->lock);
  for (;;) {
    while (!g_queue_is_empty (&self->queue))
      run_one (self);
    if (self->quit)
      break;
    self->n_idle++;
    spdl_cond_wait (&self->cond, &self->lock);
    self->n_idle--;
  }
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

SpdlThreadPool *
spdl_thread_pool_new (const gchar *name, guint max_threads)
{
  SpdlThreadPool *self = g_new0 (SpdlThreadPool, 1);

  self->name = g_strdup (name);
  self->max_threads = max_threads;
  self->threads = g_ptr_array_new ();
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  return self;
}

void
spdl_thread_pool_free (SpdlThreadPool *self)
{
  spdl_mutex_lock (&self->lock);
  self->quit = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  for (guint i = 0; i < self->threads->len; i++)
    g_thread_join (g_ptr_array_index (self->threads, i));
  g_ptr_array_unref (self->threads);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

/* Lock held. */
static void
add_thread (SpdlThreadPool *self)
{
  GThread *thread = g_thread_try_new (self->name, run_thread, self, NULL);

  if (thread)
    g_ptr_array_add (self->threads, thread);
}

void
spdl_thread_pool_push (
    SpdlThreadPool *self, SpdlThreadPoolFunc func, gpointer data)
{
  Job *job = g_new (Job, 1);
  gboolean has_thread;

  *job = (Job){ func, data };
  spdl_mutex_lock (&self->lock);
  g_queue_push_tail (&self->queue, job);
  if (self->queue.length > self->n_idle &&
      self->threads->len < self->max_threads)
    add_thread (self);
  has_thread = self->threads->len > 0;
  if (!has_thread)
    g_queue_remove (&self->queue, job);
  spdl_cond_signal (&self->cond);
  spdl_mutex_unlock (&self->lock);
  if (has_thread)
    return;
  /* No thread could be created: run the job here. */
  func (data);
  g_free (job);
}

guint64
spdl_thread_pool_get_cpu_time (SpdlThreadPool *self)
{
  guint64 time;

  spdl_mutex_lock (&self->lock);
  time = self->cpu_time;
  spdl_mutex_unlock (&self->lock);
  return time;
}
