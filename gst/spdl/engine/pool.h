/* gst-spdl: thread pool, private to a stage or shared by name
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* A pool consists of threads and one lock, which guards the pool and all state
 * of its clients. The engine of a stage therefore needs no second lock, and no
 * order of locks. A pool is either private to one client, with as many threads
 * as it runs tasks, or shared by name in the process, with a fixed size.
 * Clients are served in the order in which they were added. Stages are added
 * when they reach PAUSED, those at the sink first, so tasks closest to the sink
 * run first.
 *
 * The first thread is created by spdl_pool_begin(), others on demand. If one of
 * these cannot be created, the existing ones do its work.
 *
 * Waking: waking a sleeping thread takes microseconds, so at most one is being
 * woken at a time. It takes a task and, if there is another one, wakes the next
 * thread before it starts. If tasks are shorter than that (short_tasks, only of
 * a private pool), waking others is useless. In that
 * case, while a thread works, one idle thread sleeps only for a short time: the
 * sentinel. With a sentinel, short tasks may be left to the thread that is
 * awake: if one turns out long, the sentinel finds the next task in time. */

typedef struct _SpdlPool SpdlPool;
typedef struct _SpdlPoolClient SpdlPoolClient;
typedef struct _SpdlPoolThread SpdlPoolThread;

struct _SpdlPoolThread {
  SpdlPool *pool;
  pthread_t id;
  guint64 since;     /* for the client: when it last became idle */
  gboolean waited;   /* whether the thread slept since its last task */
  SpdlCond *pending; /* signalled as soon as the lock is released */
};

struct _SpdlPoolClient {
  guint concurrency; /* tasks that it may run at the same time */
  /* Returns TRUE if run() would find a task. Lock held. */
  gboolean (*runnable) (SpdlPoolClient *client);
  /* Runs one task. Called with the lock held, which is released during the
   * work. */
  void (*run) (SpdlPoolClient *client, SpdlPoolThread *thread);
};

struct _SpdlPool {
  SpdlMutex lock;
  SpdlCond work;
  SpdlCond watch;           /* of the sentinel */
  gchar *name;              /* NULL: private */
  guint n_refs;             /* guarded by the registry's lock */
  guint size;               /* threads of a shared pool; 0: private */
  const guint *max_threads; /* the size, or the concurrency of the client */
  guint n_idle;             /* sleeping threads, including the sentinel */
  gboolean has_sentinel;
  gboolean short_tasks; /* tasks are shorter than waking a thread */
  gboolean waking;
  gboolean quit;
  GPtrArray *clients;  /* SpdlPoolClient, in order of precedence */
  GPtrArray *threads;  /* SpdlPoolThread, running */
  GPtrArray *finished; /* SpdlPoolThread, to be joined */
  guint64 cpu_of_finished;
};

/* Creates a pool for one client. */
SpdlPool *spdl_pool_new (void);

/* Returns the pool of that name and creates it if necessary; NULL with @error
 * set if it exists with another size. */
SpdlPool *
spdl_pool_get_shared (const gchar *name, guint n_threads, GError **error);

/* Creates the first thread, unless there is one. Returns FALSE with @error set
 * (%G_THREAD_ERROR) if that is not possible: tasks would never run. */
gboolean spdl_pool_begin (SpdlPool *self, GError **error);

SpdlPool *spdl_pool_ref (SpdlPool *self);

/* Drops a reference. The last one joins the threads; no client of the caller
 * may be left. */
void spdl_pool_unref (SpdlPool *self);

/* Joins the threads of a private pool, whose client was removed. Guests may
 * still be there. */
void spdl_pool_end (SpdlPool *self);

void spdl_pool_add_client (SpdlPool *self, SpdlPoolClient *client);

/* Adds a client that is served before all others, and does not determine the
 * number of threads. */
void spdl_pool_add_guest (SpdlPool *self, SpdlPoolClient *guest);

/* Removes a client, which must have no running task. */
void spdl_pool_remove_client (SpdlPool *self, SpdlPoolClient *client);

/* Must be called when the concurrency of a client has changed. Surplus threads
 * end after their task. Lock held. */
void spdl_pool_concurrency_changed_unlocked (SpdlPool *self);

/* Makes sure that a thread takes the new work. Returns the condition that the
 * caller must signal after releasing the lock, or NULL. Lock held. */
SpdlCond *spdl_pool_call_thread_unlocked (SpdlPool *self);

/* Likewise for work that takes longer than waking a thread, even if the tasks
 * of the pool are short. */
SpdlCond *spdl_pool_wake_thread_unlocked (SpdlPool *self);

/* Returns TRUE if a client has a task that may start. Lock held. */
gboolean spdl_pool_has_work_unlocked (SpdlPool *self);

/* Returns the CPU time of all current and former threads of a private pool, in
 * ns. In a shared one, clients must measure their tasks. Lock held. */
guint64 spdl_pool_get_cpu_time_unlocked (SpdlPool *self);

/* Returns the number of threads of a shared pool, to which a client is limited;
 * 0 for a private one. */
static inline guint
spdl_pool_get_size (const SpdlPool *self)
{
  return self->size;
}

/* Tells the pool whether the client's tasks are short. Lock held. Tasks of
 * other clients of a shared pool may be long. */
static inline void
spdl_pool_set_short_tasks_unlocked (SpdlPool *self, gboolean are_short)
{
  if (self->size == 0)
    self->short_tasks = are_short;
}

/* Signals a condition of the client whose task @thread has run, as soon as the
 * lock is released. Threads of a shared pool may outlive the client, so there
 * it is signalled at once. Lock held. */
static inline void
spdl_pool_signal_later_unlocked (
    SpdlPool *self, SpdlPoolThread *thread, SpdlCond *cond)
{
  if (self->size > 0)
    spdl_cond_signal (cond);
  else
    thread->pending = cond;
}

G_END_DECLS
