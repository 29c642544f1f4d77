/* gst-spdl: scheduler that runs all interleavings of the engine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The engine's own sources are compiled with this header in the place of locks,
 * conditions, threads and atomics. Threads are coroutines of one thread, which
 * change only where threads could affect each other: before they take a lock,
 * signal a condition, access an atomic, and where they block. model_explore()
 * repeats a scenario with each choice at these points: of the thread that goes
 * on, and of the one that a signal wakes. Otherwise a thread goes on until it
 * blocks; at most `preemptions` times, another one goes on before.
 *
 * A wait with a time limit may end at any time, as a preemption, and ends when
 * no thread can go on. Memory is sequentially consistent.
 *
 * A deadlock, a run without an end, and a lock or condition that is used after
 * it was cleared end the process with the choices that led there. */

#define MODEL_MAGIC 0x6d6f6465

typedef struct {
  guint magic;
  guint owner; /* 0: free; otherwise the number of the thread plus 1 */
} ModelMutex;

typedef struct {
  guint magic;
} ModelCond;

void model_mutex_init (ModelMutex *mutex);
void model_mutex_clear (ModelMutex *mutex);
void model_mutex_lock (ModelMutex *mutex);
int model_mutex_trylock (ModelMutex *mutex);
void model_mutex_unlock (ModelMutex *mutex);
void model_cond_init (ModelCond *cond);
void model_cond_clear (ModelCond *cond);
void model_cond_wait (ModelCond *cond, ModelMutex *mutex, gboolean timed);
void model_cond_signal (ModelCond *cond);
void model_cond_broadcast (ModelCond *cond);

/* Another thread may go on here. */
void model_yield (void);

typedef void *(*ModelFunc) (void *data);

/* Starts a thread and returns its number. */
guint model_thread_start (ModelFunc func, void *data);
void model_thread_join (guint thread);

/* Limits the number of threads that the engine can create from now on. */
void model_limit_threads (guint n);
/* Returns FALSE if the limit is reached. */
gboolean model_take_thread (void);

/* Time in ns, which goes on by `tick` with each call. */
guint64 model_get_time (void);

/* Ends the process if the text of a condition does not hold. */
#define model_assert(condition) \
  ((condition) ? (void) 0 : model_fail ("%s", #condition))
void model_fail (const gchar *format, ...) G_GNUC_PRINTF (1, 2) G_GNUC_NORETURN;

typedef struct {
  const gchar *name;
  void (*run) (gconstpointer data); /* as the first thread */
  gconstpointer data;
  guint64 tick;
  /* Whether no thread may depend on the end of its time limit. */
  gboolean no_timeouts;
} ModelScenario;

/* Returns the number of interleavings. */
guint64 model_explore (const ModelScenario *scenario, guint preemptions);

G_END_DECLS
