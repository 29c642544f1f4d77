/* gst-spdl: thread pool, private to a stage or shared by name
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* A pool is some threads and one lock, which guards the pool and all that its
 * clients have: so a stage's engine needs no second lock, and no order of locks
 * can be got wrong. A pool is either one client's own, with a size that may
 * change, or shared by name in the whole process.
 *
 * Clients that came first are served first; stages come as they reach PAUSED,
 * those at the sink before those at the source, so tasks nearest the sink run
 * first. Threads are made when they are first needed.
 *
 * Waking: a sleeping thread costs microseconds to wake, so at most one is on
 * its way at a time. It takes a task and, if there is another one, calls the
 * next thread before it begins.
 *
 * Where tasks are shorter than that (short_tasks, which only an own pool's
 * client sets), others are woken for nothing. So then, while a thread works,
 * one that has nothing to do sleeps for a short time only: it is the sentinel.
 * With a sentinel, short tasks may be left to the thread that is awake: should
 * one turn out long, the sentinel finds the next in time. */

typedef struct _SpdlPool SpdlPool;
typedef struct _SpdlPoolClient SpdlPoolClient;
typedef struct _SpdlPoolThread SpdlPoolThread;

struct _SpdlPoolThread {
  SpdlPool *pool;
  pthread_t id;
  guint64 since;     /* the client's: when it last had nothing to do */
  gboolean waited;   /* whether the thread slept since its last task */
  SpdlCond *pending; /* to be signalled as soon as the lock is released */
};

struct _SpdlPoolClient {
  /* Whether run() would find a task. With the lock held. */
  gboolean (*runnable) (SpdlPoolClient *client);
  /* Runs one task. Entered and left with the lock held, which it releases
   * while it works. */
  void (*run) (SpdlPoolClient *client, SpdlPoolThread *thread);
};

struct _SpdlPool {
  SpdlMutex lock;
  SpdlCond work;
  SpdlCond watch; /* of the sentinel */
  gchar *name;    /* NULL: not shared */
  guint n_refs;   /* under the registry's lock */
  guint max_threads;
  guint n_idle; /* threads that sleep, the sentinel too */
  gboolean has_sentinel;
  gboolean short_tasks; /* the client's word: a thread is worth no wake-up */
  gboolean waking;
  gboolean quit;
  GPtrArray *clients;  /* SpdlPoolClient, the first to be served first */
  GPtrArray *threads;  /* SpdlPoolThread, living */
  GPtrArray *finished; /* SpdlPoolThread, to be joined */
  guint64 cpu_of_finished;
};

/* Creates a pool for one client. */
SpdlPool *spdl_pool_new (guint max_threads);

/* Returns the pool of that name and creates it if necessary; NULL with @error
 * set if it exists with another size. */
SpdlPool *
spdl_pool_get_shared (const gchar *name, guint n_threads, GError **error);

/* Drops a reference. The last one joins the threads; no client of the caller
 * may be left. */
void spdl_pool_unref (SpdlPool *self);

void spdl_pool_add_client (SpdlPool *self, SpdlPoolClient *client);

/* Removes a client, which must have no running task. */
void spdl_pool_remove_client (SpdlPool *self, SpdlPoolClient *client);

/* Sets the maximum number of threads. Surplus threads end after their task.
 * Lock held. */
void spdl_pool_set_max_threads_unlocked (SpdlPool *self, guint max_threads);

/* Makes sure that a thread takes the new work. Returns the condition that the
 * caller must signal after releasing the lock, or NULL. Lock held. */
SpdlCond *spdl_pool_call_thread_unlocked (SpdlPool *self);

/* Returns TRUE if a client has a task that may start. Lock held. */
gboolean spdl_pool_has_work_unlocked (SpdlPool *self);

/* Returns the CPU time of all current and former threads, in ns. Lock held. */
guint64 spdl_pool_get_cpu_time_unlocked (SpdlPool *self);

G_END_DECLS
