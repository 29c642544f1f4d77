/* gst-spdl: portability to systems other than Linux with glibc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <fcntl.h>
#include <fnmatch.h>
#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif
#include <time.h>
#include <unistd.h>

/* The code is written for POSIX.1-2008. Names that macOS or musl lacks appear
 * only here, each in a function with a fallback, so that a port starts in this
 * file. tests/check/scripts/compat fails if another file uses one.
 *
 * Some features exist only on Linux. They have no fallback; each is used in one
 * file:
 *
 *   gst/spdl/wire/memfd.h                shared memory with seals
 *   plugins/ipc/wire/bell.c              futex between processes
 *   plugins/ipc/element/workerprocess.c  pidfd, inherited descriptors, pipe2
 *   plugins/ipc/wire/workerconfig.c      CPU affinity
 *   gst/spdl/process/packet.c            descriptors received close-on-exec
 *   plugins/ipc/worker/worker.c          signal at the death of the parent
 *   gst/spdl/engine/cgroup.c             limits of cgroups
 *   gst/spdl/engine/cpus.c               CPU load from /proc
 *   gst/spdl/engine/memory.c             memory from /proc
 *   tools/launch/run/process.c           memory from /proc
 *
 * Without these features, meson.build leaves out the ipc plugin. If the files
 * cannot be read, cgroups set no limit, memory.c uses the physical memory, and
 * process.c reports 0; it expects ru_maxrss in Linux's unit. */

/* Makes a mutex of @attr spin for a moment before it sleeps: most critical
 * sections here take some tens of nanoseconds. Only glibc has this type.
 * Elsewhere the mutex is a default one, which is slower under contention
 * (macOS spins by itself). */
static inline void
spdl_compat_mutexattr_set_adaptive (pthread_mutexattr_t *attr)
{
#ifdef __GLIBC__
  pthread_mutexattr_settype (attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
}

/* Initializes a condition for spdl_compat_cond_wait_for(). macOS cannot choose
 * the clock, but can wait for a relative time. */
static inline void
spdl_compat_cond_init (pthread_cond_t *cond)
{
#ifdef __APPLE__
  pthread_cond_init (cond, NULL);
#else
  pthread_condattr_t attr;

  pthread_condattr_init (&attr);
  pthread_condattr_setclock (&attr, CLOCK_MONOTONIC);
  pthread_cond_init (cond, &attr);
  pthread_condattr_destroy (&attr);
#endif
}

/* Waits for at most @ns, independently of changes of the wall clock. */
static inline void
spdl_compat_cond_wait_for (
    pthread_cond_t *cond, pthread_mutex_t *mutex, guint64 ns)
{
#ifdef __APPLE__
  const struct timespec length = { ns / 1000000000, ns % 1000000000 };

  pthread_cond_timedwait_relative_np (cond, mutex, &length);
#else
  struct timespec end;

  clock_gettime (CLOCK_MONOTONIC, &end);
  ns += end.tv_nsec;
  end.tv_sec += ns / 1000000000;
  end.tv_nsec = ns % 1000000000;
  pthread_cond_timedwait (cond, mutex, &end);
#endif
}

/* Names the calling thread, as debuggers and top show it. Linux ignores names
 * of more than 15 bytes. On macOS a thread can name only itself, so the call
 * has no thread argument. */
static inline void
spdl_compat_set_thread_name (const gchar *name)
{
#ifdef __APPLE__
  pthread_setname_np (name);
#else
  pthread_setname_np (pthread_self (), name);
#endif
}

/* Reads the name of the calling thread. musl has the function since 1.2.3. */
static inline void
spdl_compat_get_thread_name (gchar *name, gsize size)
{
  if (pthread_getname_np (pthread_self (), name, size) != 0)
    name[0] = '\0';
}

/* Reads the CPU time of a running thread of this process. Returns FALSE if it
 * is unknown; statistics then show 0. macOS has no clock per thread: a port
 * calls thread_info() with THREAD_BASIC_INFO there. */
static inline gboolean
spdl_compat_get_thread_time (pthread_t id, struct timespec *time)
{
#ifdef __APPLE__
  return FALSE;
#else
  clockid_t clock;

  return pthread_getcpuclockid (id, &clock) == 0 &&
         clock_gettime (clock, time) == 0;
#endif
}

/* Switches the calling thread from the default scheduling policy to SCHED_BATCH
 * or back. A batch thread that wakes up does not preempt the thread that has
 * the core, for example the trainer's. Returns FALSE, and changes nothing, if
 * the thread has another policy than the one to switch from.
 *
 * Without SCHED_BATCH this does nothing. musl's functions always fail, as they
 * refer to a thread and POSIX's to the process: a port makes the system calls.
 * On macOS a port sets QOS_CLASS_UTILITY. */
static inline gboolean
spdl_compat_set_batch_policy (gboolean batch)
{
#ifdef SCHED_BATCH
  const struct sched_param param = { 0 };

  if (sched_getscheduler (0) != (batch ? SCHED_OTHER : SCHED_BATCH))
    return FALSE;
  sched_setscheduler (0, batch ? SCHED_BATCH : SCHED_OTHER, &param);
  return TRUE;
#else
  return FALSE;
#endif
}

/* Switches the calling thread to SCHED_IDLE. Without privileges, it cannot
 * switch back. */
static inline void
spdl_compat_set_idle_policy (void)
{
#ifdef SCHED_IDLE
  const struct sched_param param = { 0 };

  sched_setscheduler (0, SCHED_IDLE, &param);
#endif
}

/* Determines which of the first @n CPUs the process's main thread may run on.
 * Returns their number; 0 if it is unknown. macOS has no affinity. */
static inline guint
spdl_compat_get_affinity (gboolean *allowed, guint n)
{
#ifdef CPU_ALLOC
  const gsize size = CPU_ALLOC_SIZE (n);
  cpu_set_t *cpus = CPU_ALLOC (n);
  guint found = 0;

  if (cpus && sched_getaffinity (getpid (), size, cpus) == 0)
    for (guint i = 0; i < n; i++)
      found += allowed[i] = CPU_ISSET_S (i, size, cpus) != 0;
  if (cpus)
    CPU_FREE (cpus);
  return found;
#else
  return 0;
#endif
}

/* Returns the machine's physical memory in bytes; 0 if it is unknown. The name
 * is not in POSIX, but glibc, musl and macOS have it. */
static inline guint64
spdl_compat_get_physical_memory (void)
{
#ifdef _SC_PHYS_PAGES
  const long n_pages = sysconf (_SC_PHYS_PAGES);
  const long size = sysconf (_SC_PAGESIZE);

  return n_pages > 0 && size > 0 ? (guint64) n_pages * size : 0;
#else
  return 0;
#endif
}

/* Finds the last @byte in the @size bytes of @data; NULL if there is none.
 * macOS has no such function. */
static inline gpointer
spdl_compat_memrchr (gconstpointer data, int byte, gsize size)
{
#ifdef __APPLE__
  const guint8 *bytes = data;

  while (size > 0)
    if (bytes[--size] == (guint8) byte)
      return (gpointer) (bytes + size);
  return NULL;
#else
  return memrchr (data, byte, size);
#endif
}

/* Matches @text against a glob, ignoring case. Only glibc supports extensions
 * such as `@(a|b)`. Elsewhere such a pattern is literal, so that *.@(jpg|png)
 * matches no file: a port brings its own fnmatch(), for example gnulib's. */
static inline gboolean
spdl_compat_match_glob (const gchar *pattern, const gchar *text)
{
#ifdef FNM_EXTMATCH
  return fnmatch (pattern, text, FNM_CASEFOLD | FNM_EXTMATCH) == 0;
#else
  return fnmatch (pattern, text, FNM_CASEFOLD) == 0;
#endif
}

/* Returns the modification time of the file's content. The field has another
 * name on macOS. */
static inline struct timespec
spdl_compat_get_mtime (const struct stat *st)
{
#ifdef __APPLE__
  return st->st_mtimespec;
#else
  return st->st_mtim;
#endif
}

/* Returns TRUE if the open folder belongs to /proc or /sys, whose links contain
 * loops. macOS has neither. */
static inline gboolean
spdl_compat_is_kernel_folder (int fd)
{
#ifdef __linux__
  const unsigned long proc = 0x9fa0, sys = 0x62656572;
  struct statfs st;

  return fstatfs (fd, &st) == 0 && ((unsigned long) st.f_type == proc ||
                                       (unsigned long) st.f_type == sys);
#else
  return FALSE;
#endif
}

/* Advises the kernel whether a file will be read in order, so that it reads
 * ahead. macOS has only F_RDAHEAD, which is on by default. */
static inline void
spdl_compat_expect_order (int fd, gboolean in_order)
{
#ifdef POSIX_FADV_SEQUENTIAL
  posix_fadvise (
      fd, 0, 0, in_order ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_NORMAL);
#endif
}
