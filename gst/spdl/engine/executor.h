/* gst-spdl: engine of a stage: bounded queue, workers, ordered results
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/meter.h"
#include "gst/spdl/engine/pool.h"
#include "gst/spdl/engine/ring.h"
#include "gst/spdl/engine/window.h"

G_BEGIN_DECLS

/* The executor combines a ring, a pool and a meter. One thread puts entries in
 * and blocks while the executor is full. The pool's threads run the tasks and
 * never block on the executor. One thread takes the finished entries, in order,
 * and returns each entry when it has passed it on. Until then the entry counts:
 * the executor never holds more than concurrency + queue-size tasks. Marks and
 * barriers have a separate limit, so that they cannot accumulate either.
 *
 * The pool's lock guards everything. */

typedef struct _SpdlExecutor SpdlExecutor;

typedef struct _SpdlTask SpdlTask;

/* An entry with the input and the result of a task.
 *
 * A task may consist of parts, which start in order and run in parallel. Parts
 * then count as tasks, for the concurrency and in the statistics, and the whole
 * leaves when all are done. While parts are unfinished, a whole takes as much
 * queue space as it has unfinished parts, so the next task enters before the
 * last part ends. Once it is done, it takes space for all parts. */
struct _SpdlTask {
  SpdlEntry entry;
  guint n_items;
  SpdlTask **parts; /* nullable */
  guint n_parts;
  /* set by run(), before the task is done: */
  guint n_failed;
  guint n_filtered;
  guint64 bytes_out;
  guint64 number; /* in a trace: sequence number of the first item */
  /* private to the executor: */
  SpdlTask *whole; /* of a part */
  guint n_begun;   /* parts */
  guint n_done;    /* parts */
  guint64 since;   /* when it began */
};

typedef struct {
  /* Runs @task in a thread of the pool, without a lock.
   *
   * @slot: one of `concurrency` places for the state of a worker, used by one
   *     thread at a time; NULL at first use
   *
   * Returns FALSE if the task continues without this thread and is no longer
   * owned by the caller; spdl_executor_finish() ends it. */
  gboolean (*run) (gpointer user_data, SpdlTask *task, gpointer *slot);
  /* Frees the state that run() stored in @slot. */
  void (*close_slot) (gpointer user_data, gpointer slot);
  /* Frees an entry that will not be taken, because of a flush or a close. */
  void (*discard) (gpointer user_data, SpdlEntry *entry);
  /* (nullable): returns the CPU time since the start, in ns, of threads other
   * than the pool's that work on tasks. Called with the pool's lock held. */
  guint64 (*cpu_time) (gpointer user_data);
} SpdlExecutorFuncs;

typedef enum {
  SPDL_EXECUTOR_OK,
  SPDL_EXECUTOR_FLUSHING, /* flushing, or not started */
  SPDL_EXECUTOR_CLOSED, /* no more entries are accepted; take() has returned all
                         */
} SpdlExecutorStatus;

struct _SpdlExecutor {
  SpdlPoolClient client; /* its concurrency is guarded by the pool's lock */
  const SpdlExecutorFuncs *funcs;
  gpointer user_data;

  /* Guards the pointer against threads other than the streaming ones; taken
   * before the pool's lock. */
  SpdlMutex pool_lock;
  SpdlPool *pool;

  /* guarded by the pool's lock, like everything below */
  SpdlRing ring;
  SpdlMeter meter;
  guint allowed; /* maximum number of running tasks, whatever the concurrency */
  guint queue_size;
  guint64 max_bytes; /* 0: none */
  SpdlTask *partial; /* a started task with parts that have not started */
  guint n_running;   /* tasks, or parts of tasks */
  guint n_inside;    /* threads that run one; an asynchronous task may end
                        before its thread returns */
  guint room_taken;  /* of concurrency + queue_size */
  guint n_others_held;
  guint64 bytes_held;
  gboolean flushing;
  gboolean closed;
  const SpdlEntry *waiting; /* entry that put() waits to add */
  gboolean putter_waits;    /* put() waits with a task */
  gboolean taker_waits;
  guint taker_wants;   /* number of results before take() is woken, if more are
                          expected */
  gboolean hands_over; /* tasks continue without their thread */
  GArray *idle_since;  /* guint64: when places for such tasks became free */
  guint64 recent_time; /* recent average duration of a task, in ns; capped for
                          long tasks */
  guint64 usual_time;  /* average duration of a task, in ns */
  SpdlCond has_room;
  SpdlCond ready;
  SpdlCond is_idle;      /* no task is running, and no thread runs one */
  GPtrArray *free_slots; /* gpointer *, the last used at the end */
  guint n_slots;
  guint64 cpu_time; /* of tasks on a shared pool; of all tasks after the stop */
};

/* Initializes an executor, which flushes until spdl_executor_start(). */
void spdl_executor_init (
    SpdlExecutor *self, const SpdlExecutorFuncs *funcs, gpointer user_data);
void spdl_executor_clear (SpdlExecutor *self);

/* Starts to accept entries. @pool: (transfer full); @clock: (nullable) */
void spdl_executor_start (SpdlExecutor *self, SpdlPool *pool, SpdlOrder order,
    const SpdlClock *clock);

/* Returns: (transfer full) (nullable): the pool, for a guest; NULL if the
 * executor is not started. May be called from any thread. */
SpdlPool *spdl_executor_ref_pool (SpdlExecutor *self);

/* Waits for running tasks, discards all entries, closes slots and releases the
 * pool. No other thread may be in put() or take(). Statistics are kept. */
void spdl_executor_stop (SpdlExecutor *self);

/* Queues @entry; blocks while the executor is full. The executor owns the entry
 * if the status is OK. */
SpdlExecutorStatus spdl_executor_put (SpdlExecutor *self, SpdlEntry *entry);

/* Releases @passed (nullable), the entry of the previous call, which the caller
 * then owns. Returns the next entry that may leave, blocking until there is
 * one, or NULL with the reason in @status. */
SpdlEntry *spdl_executor_take (
    SpdlExecutor *self, SpdlEntry *passed, SpdlExecutorStatus *status);

/* Ends @task, for which run() returned FALSE or has not returned yet. Call it
 * once, from any thread. */
void spdl_executor_finish (SpdlExecutor *self, SpdlTask *task);

/* Starts a flush: put() and take() return at once, and no task starts. May be
 * called from any thread. */
void spdl_executor_flush_start (SpdlExecutor *self);

/* Ends a flush: waits for running tasks, discards all entries and accepts
 * entries again. */
void spdl_executor_flush_stop (SpdlExecutor *self);

/* Closes the executor: it accepts no entries and discards tasks that have not
 * started; running and finished tasks still come out. May be called from any
 * thread; has no effect if the executor is not started. */
void spdl_executor_close (SpdlExecutor *self);

/* Sets the number of tasks that run at the same time, at least 1, with
 * immediate effect. */
void spdl_executor_set_concurrency (SpdlExecutor *self, guint concurrency);
guint spdl_executor_get_concurrency (SpdlExecutor *self);

/* Sets the limits of the queue, with immediate effect. */
void spdl_executor_set_limits (
    SpdlExecutor *self, guint queue_size, guint64 max_bytes);

/* Limits the number of running tasks to @n (0: pauses all, G_MAXUINT: no
 * limit). Threads and slots are kept, so it may change often. May be called
 * from any thread. */
void spdl_executor_allow (SpdlExecutor *self, guint n);

/* Reads the counters since the start, at little cost. Returns the number of
 * running tasks. */
guint spdl_executor_count (SpdlExecutor *self, SpdlInterval *counts);

/* Reads the statistics of this @interval and starts a new one, or reads those
 * since the start. */
void spdl_executor_take_figures (
    SpdlExecutor *self, gboolean interval, SpdlMeterStats *stats);

G_END_DECLS
