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

/* Sets whether this thread has the kernel's policy for batch jobs. Such a
 * thread does not preempt a running thread, such as the trainer's, when it
 * wakes up. */
void spdl_thread_set_batch_scheduling (gboolean enabled);

/* Returns TRUE if this thread has that policy, as stage workers and streaming
 * threads do. */
SPDL_PRIVATE_API
gboolean spdl_thread_has_batch_scheduling (void);

/* The kernel limits a process in two ways. Its affinity (taskset, cpusets) says
 * on which CPUs its threads may run. The quota of a cgroup says how much CPU
 * time the processes in it get: `docker run --cpus=4` leaves all CPUs of the
 * machine visible, and stops the threads once they have used four seconds a
 * second. More threads than that gain nothing. All code of the project asks
 * here, so that a container's limit counts everywhere.
 *
 * Files are read at each call, since limits may change while the process runs.
 * Callers that need the number often keep it.
 *
 * @root is the folder below which /proc and /sys are looked for: "" except in
 * tests. A file that is missing or cannot be parsed sets no limit. */

/* Returns the CPUs' worth of time that the process's cgroup grants: the least
 * quota of the process's cgroup and its parents, in the hierarchies of both
 * versions of cgroups; INFINITY if there is none. */
double spdl_cpus_read_quota (const gchar *root);

/* Returns how many CPUs' worth of time the process can use, by its affinity and
 * its quota. It may be a fraction. */
SPDL_PRIVATE_API
double spdl_cpus_get_limit (void);

/* Returns the number of compute threads that use up the limit: the limit
 * rounded up, at least 1. */
SPDL_PRIVATE_API
guint spdl_cpus_count (void);

/* Counters since an unspecified moment, in ns. */
typedef struct {
  guint n_cpus; /* that `busy` and `idle` are of; 0: they are not known */
  guint64 busy; /* all programs; and other virtual machines on these CPUs */
  guint64 idle;
  gboolean has_pressure;
  guint64 pressure; /* while at least one runnable thread waited for a CPU */
  gboolean has_delay;
  guint64
      delay; /* that this process's threads waited for a CPU, all together */
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
