/* gst-spdl: thread pool, private to a stage or shared by name
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/pool.h"

#include <gio/gio.h>

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/engine/cpus.h"
#include "gst/spdl/engine/newthread.h"

static SpdlMutex registry_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *registry = NULL; /* name -> SpdlPool, not owned */

/* Threads of a private pool that has no client yet, or no more. */
static const guint one = 1;

static SpdlPoolClient *
next_client (SpdlPool *self)
{
  for (guint i = 0; i < self->clients->len; i++) {
    SpdlPoolClient *client = g_ptr_array_index (self->clients, i);

    if (client->runnable (client))
      return client;
  }
  return NULL;
}

static guint64
thread_cpu_time (pthread_t id)
{
  struct timespec ts;

  return spdl_compat_get_thread_time (id, &ts) ? spdl_timespec_to_ns (&ts) : 0;
}

/* Sleep time of the sentinel, in ns: the maximum delay of a task that was left
 * to a thread whose own task turned out long. */
#define SENTINEL_SLEEP 1000000

static void
sleep_until_called (SpdlPool *self, SpdlPoolThread *thread)
{
  self->n_idle++;
  if (self->short_tasks && !self->has_sentinel &&
      self->threads->len > self->n_idle) {
    self->has_sentinel = TRUE;
    spdl_cond_wait_for (&self->watch, &self->lock, SENTINEL_SLEEP);
    self->has_sentinel = FALSE;
  } else {
    spdl_cond_wait (&self->work, &self->lock);
  }
  self->n_idle--;
  self->waking = FALSE;
  thread->waited = TRUE;
}

static void
signal_pending (SpdlPool *self, SpdlPoolThread *thread)
{
  SpdlCond *cond = thread->pending;

  thread->pending = NULL;
  spdl_mutex_unlock (&self->lock);
  spdl_cond_signal (cond);
  spdl_mutex_lock (&self->lock);
}

static void *
thread_main (void *data)
{
  SpdlPoolThread *thread = data;
  SpdlPool *self = thread->pool;

  spdl_compat_set_thread_name (self->name ? self->name : "spdl-worker");
  spdl_thread_begin_work ();

  spdl_mutex_lock (&self->lock);
  self->waking = FALSE;
  thread->waited = TRUE;
  while (!self->quit && self->threads->len <= *self->max_threads) {
    SpdlPoolClient *client = next_client (self);

    if (client)
      client->run (client, thread);
    else if (thread->pending)
      signal_pending (self, thread);
    else
      sleep_until_called (self, thread);
  }
  if (thread->pending)
    signal_pending (self, thread);

  self->cpu_of_finished += thread_cpu_time (thread->id);
  g_ptr_array_remove_fast (self->threads, thread);
  /* This thread ends, so pass on the call that may have woken it. A new thread
   * joins those that have finished, so this one must not be among them yet. */
  SpdlCond *call = !self->quit && next_client (self)
                       ? spdl_pool_call_thread_unlocked (self)
                       : NULL;
  g_ptr_array_add (self->finished, thread);
  if (call)
    spdl_cond_signal (call);
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

static void
join_finished (SpdlPool *self)
{
  for (guint i = 0; i < self->finished->len; i++) {
    SpdlPoolThread *thread = g_ptr_array_index (self->finished, i);

    pthread_join (thread->id, NULL);
    g_free (thread);
  }
  g_ptr_array_set_size (self->finished, 0);
}

/* Lock held. Returns 0, or an error number of the system. */
static int
add_thread (SpdlPool *self)
{
  SpdlPoolThread *thread = g_new0 (SpdlPoolThread, 1);
  int problem;

  join_finished (self);
  thread->pool = self;
  problem = pthread_create (&thread->id, NULL, thread_main, thread);
  if (problem != 0) {
    g_free (thread);
    return problem;
  }
  g_ptr_array_add (self->threads, thread);
  self->waking = TRUE;
  return 0;
}

gboolean
spdl_pool_begin (SpdlPool *self, GError **error)
{
  int problem = 0;

  spdl_mutex_lock (&self->lock);
  if (self->threads->len == 0)
    problem = add_thread (self);
  spdl_mutex_unlock (&self->lock);
  if (problem != 0)
    spdl_thread_set_error (error, self->name ? self->name : "spdl-worker",
        "the tasks of a stage", problem);
  return problem == 0;
}

SpdlPool *
spdl_pool_new (void)
{
  SpdlPool *self = g_new0 (SpdlPool, 1);

  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->work);
  spdl_cond_init (&self->watch);
  self->n_refs = 1;
  self->max_threads = &one;
  self->clients = g_ptr_array_new ();
  self->threads = g_ptr_array_new ();
  self->finished = g_ptr_array_new ();
  return self;
}

static void
wake_all (SpdlPool *self)
{
  spdl_cond_broadcast (&self->work);
  spdl_cond_broadcast (&self->watch);
}

void
spdl_pool_end (SpdlPool *self)
{
  spdl_mutex_lock (&self->lock);
  self->quit = TRUE;
  wake_all (self);
  while (self->threads->len > 0) {
    SpdlPoolThread *thread = g_ptr_array_index (self->threads, 0);
    pthread_t id = thread->id;

    spdl_mutex_unlock (&self->lock);
    pthread_join (id, NULL);
    spdl_mutex_lock (&self->lock);
    g_ptr_array_remove_fast (self->finished, thread);
    g_free (thread);
  }
  join_finished (self);
  spdl_mutex_unlock (&self->lock);
}

static void
pool_free (SpdlPool *self)
{
  g_assert (self->clients->len == 0);

  spdl_pool_end (self);
  g_ptr_array_unref (self->clients);
  g_ptr_array_unref (self->threads);
  g_ptr_array_unref (self->finished);
  spdl_cond_clear (&self->work);
  spdl_cond_clear (&self->watch);
  spdl_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

SpdlPool *
spdl_pool_get_shared (const gchar *name, guint n_threads, GError **error)
{
  SpdlPool *self;

  spdl_mutex_lock (&registry_lock);
  if (!registry)
    registry = g_hash_table_new (g_str_hash, g_str_equal);
  self = g_hash_table_lookup (registry, name);
  if (self && self->size != n_threads) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "thread-pool \"%s\" already has %u threads in this process, not %u: "
        "use the same number in all stages that share the pool",
        name, self->size, n_threads);
    self = NULL;
  } else if (self) {
    self->n_refs++;
  } else {
    self = spdl_pool_new ();
    self->size = n_threads;
    self->max_threads = &self->size;
    self->name = g_strdup (name);
    g_hash_table_insert (registry, self->name, self);
  }
  spdl_mutex_unlock (&registry_lock);
  return self;
}

SpdlPool *
spdl_pool_ref (SpdlPool *self)
{
  spdl_mutex_lock (&registry_lock);
  self->n_refs++;
  spdl_mutex_unlock (&registry_lock);
  return self;
}

void
spdl_pool_unref (SpdlPool *self)
{
  gboolean last;

  spdl_mutex_lock (&registry_lock);
  last = --self->n_refs == 0;
  if (last && self->name)
    g_hash_table_remove (registry, self->name);
  if (registry && g_hash_table_size (registry) == 0)
    g_clear_pointer (&registry, g_hash_table_unref);
  spdl_mutex_unlock (&registry_lock);

  if (last)
    pool_free (self);
}

void
spdl_pool_add_client (SpdlPool *self, SpdlPoolClient *client)
{
  spdl_mutex_lock (&self->lock);
  g_ptr_array_add (self->clients, client);
  if (self->size == 0)
    self->max_threads = &client->concurrency;
  spdl_mutex_unlock (&self->lock);
}

void
spdl_pool_add_guest (SpdlPool *self, SpdlPoolClient *guest)
{
  spdl_mutex_lock (&self->lock);
  g_ptr_array_insert (self->clients, 0, guest);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_pool_remove_client (SpdlPool *self, SpdlPoolClient *client)
{
  spdl_mutex_lock (&self->lock);
  g_ptr_array_remove (self->clients, client);
  if (self->max_threads == &client->concurrency)
    self->max_threads = &one;
  spdl_mutex_unlock (&self->lock);
}

void
spdl_pool_concurrency_changed_unlocked (SpdlPool *self)
{
  if (self->threads->len > *self->max_threads)
    wake_all (self);
}

SpdlCond *
spdl_pool_call_thread_unlocked (SpdlPool *self)
{
  const gboolean someone_works = self->threads->len > self->n_idle;

  return self->short_tasks && someone_works && self->has_sentinel
             ? NULL
             : spdl_pool_wake_thread_unlocked (self);
}

SpdlCond *
spdl_pool_wake_thread_unlocked (SpdlPool *self)
{
  if (self->waking || self->quit)
    return NULL;
  if (self->n_idle > 0) {
    self->waking = TRUE;
    return self->n_idle > 1 || !self->has_sentinel ? &self->work : &self->watch;
  }
  /* If there can be no more threads, the others take over the work: the first
   * one, which spdl_pool_begin() has created, is the last to end. */
  if (self->threads->len < *self->max_threads)
    add_thread (self);
  return NULL;
}

gboolean
spdl_pool_has_work_unlocked (SpdlPool *self)
{
  return next_client (self) != NULL;
}

guint64
spdl_pool_get_cpu_time_unlocked (SpdlPool *self)
{
  guint64 sum = self->cpu_of_finished;

  if (self->size > 0)
    return 0;
  for (guint i = 0; i < self->threads->len; i++) {
    SpdlPoolThread *thread = g_ptr_array_index (self->threads, i);

    sum += thread_cpu_time (thread->id);
  }
  return sum;
}
