/* gst-spdl: number of usable CPUs and their load
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Sets whether this thread has the kernel's scheduling policy for batch jobs.
 * When such a thread wakes up, it does not preempt a running thread, such as
 * the trainer's. */
void spdl_thread_set_batch_scheduling (gboolean enabled);

/* Gives a thread of this project that policy for good, or the one below it
 * after spdl_threads_set_background(). */
void spdl_thread_begin_work (void);

/* Sets whether threads that begin to work only get cores that no other thread
 * of the machine wants. */
SPDL_PRIVATE_API
void spdl_threads_set_background (gboolean background);
gboolean spdl_threads_are_background (void);

/* Returns TRUE if this thread has one of these policies, as stage workers and
 * streaming threads do. */
SPDL_PRIVATE_API
gboolean spdl_thread_has_batch_scheduling (void);

/* The kernel limits the CPUs of a process in two ways. The affinity (taskset,
 * cpusets) determines on which CPUs its threads may run. The quota of a cgroup
 * determines how much CPU time its processes get: with `docker run --cpus=4`,
 * all CPUs of the machine are visible, but threads are stopped once they have
 * used four seconds per second. A larger number of threads has no benefit. All
 * code of the project uses these functions, so that the limit of a container
 * applies everywhere.
 *
 * Files are read at each call, since limits may change while the process runs.
 * Callers that need the number often keep it.
 *
 * @root is the folder below which /proc and /sys are looked for: "" except in
 *     tests. A file that is missing or cannot be parsed sets no limit. */

/* Returns the lowest CPU quota of the process's cgroup and its parents, in the
 * hierarchies of both versions of cgroups, as a number of CPUs; INFINITY if
 * there is none. */
double spdl_cpus_read_quota (const gchar *root);

/* Returns how many CPUs the process can use according to its affinity and its
 * quota. It may be a fraction. */
SPDL_PRIVATE_API
double spdl_cpus_get_limit (void);

/* Returns the number of compute threads that use up the limit: the limit
 * rounded up, at least 1. */
SPDL_PRIVATE_API
guint spdl_cpus_count (void);

/* Counters since an unspecified moment, in ns. */
typedef struct {
  guint n_cpus; /* CPUs that `busy` and `idle` cover; 0: unknown */
  guint64 busy; /* by all programs, including other virtual machines on these
                   CPUs */
  guint64 idle;
  gboolean has_pressure;
  guint64 pressure; /* while a runnable thread waited for a CPU */
  gboolean has_delay;
  guint64 delay; /* sum of the CPU waits of this process's threads */
} SpdlCpuTimes;

/* Reads the counters of the CPUs in @allowed (NULL: all CPUs). Pressure is that
 * of the process's cgroup if it is known, otherwise that of the machine. */
void spdl_cpus_read_times (
    const gchar *root, const gboolean *allowed, guint n, SpdlCpuTimes *times);

/* Reads the counters of the CPUs that the process may run on. */
SPDL_PRIVATE_API
void spdl_cpus_get_times (SpdlCpuTimes *times);

/* Sets, for tests, the number of CPUs of the affinity (0: the real one) and the
 * folder below which system files are read. */
SPDL_PRIVATE_API
void spdl_cpus_pretend (const gchar *root, guint n_cpus);

G_END_DECLS
