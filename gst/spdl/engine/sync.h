/* gst-spdl: mutexes and conditions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <errno.h>

#include "gst/spdl/engine/compat.h"

/* Locks of the engine. They use pthreads instead of GLib, because
 * ThreadSanitizer supports them, an adaptive mutex spins over critical sections
 * of some tens of nanoseconds instead of sleeping, and signalling a condition
 * without waiters needs no system call. All code uses these names, so that the
 * implementation can be replaced here. */

typedef pthread_mutex_t SpdlMutex;
typedef pthread_cond_t SpdlCond;

static inline void
spdl_mutex_init (SpdlMutex *mutex)
{
  pthread_mutexattr_t attr;

  pthread_mutexattr_init (&attr);
  spdl_compat_mutexattr_set_adaptive (&attr);
  pthread_mutex_init (mutex, &attr);
  pthread_mutexattr_destroy (&attr);
}

static inline void
spdl_mutex_clear (SpdlMutex *mutex)
{
  pthread_mutex_destroy (mutex);
}

static inline void
spdl_mutex_lock (SpdlMutex *mutex)
{
  pthread_mutex_lock (mutex);
}

/* Returns TRUE if the mutex was free. */
static inline int
spdl_mutex_trylock (SpdlMutex *mutex)
{
  return pthread_mutex_trylock (mutex) == 0;
}

static inline void
spdl_mutex_unlock (SpdlMutex *mutex)
{
  pthread_mutex_unlock (mutex);
}

static inline void
spdl_cond_init (SpdlCond *cond)
{
  spdl_compat_cond_init (cond);
}

static inline void
spdl_cond_clear (SpdlCond *cond)
{
  pthread_cond_destroy (cond);
}

static inline void
spdl_cond_wait (SpdlCond *cond, SpdlMutex *mutex)
{
  pthread_cond_wait (cond, mutex);
}

/* Waits for at most @ns nanoseconds. */
static inline void
spdl_cond_wait_for (SpdlCond *cond, SpdlMutex *mutex, guint64 ns)
{
  spdl_compat_cond_wait_for (cond, mutex, ns);
}

static inline void
spdl_cond_signal (SpdlCond *cond)
{
  pthread_cond_signal (cond);
}

static inline void
spdl_cond_broadcast (SpdlCond *cond)
{
  pthread_cond_broadcast (cond);
}
