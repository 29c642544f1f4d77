/* gst-spdl: number of usable CPUs and their load
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlcpus
 * @title: CPUs
 * @short_description: CPUs that the process may use, and their load
 *
 * A process may be able to use fewer CPUs than the machine has, because of its
 * CPU affinity or the CPU quotas of its cgroup and the cgroup's parents, such
 * as in a container started with `--cpus=4`. All parts of gst-spdl count CPUs
 * with gst_spdl_get_num_cores(): the default concurrency of a loader's stages,
 * automatic concurrency, CPU budgets and the diagnosis.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlcpus.h"

#include "gst/spdl/engine/cpus.h"

#include <time.h>

/**
 * gst_spdl_get_num_cores:
 *
 * Counts the cores that the process may use: the minimum of its CPU affinity
 * and the CPU quotas of its cgroup and the cgroup's parents (cgroup v1 and v2).
 * A fraction counts as one core. Limits are read at each call.
 *
 * Returns: the number of cores, at least 1
 *
 * Since: 0.1
 */
guint
gst_spdl_get_num_cores (void)
{
  return spdl_cpus_count ();
}

static guint64
get_process_time (void)
{
  struct timespec t = { 0 };

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * GST_SECOND + t.tv_nsec;
}

/**
 * gst_spdl_dup_cpu_stats:
 *
 * Reads the load of the CPUs, for gst_spdl_diagnose_with_cpus(). The structure
 * is called `spdl-cpu-stats`. Times are in ns since an unspecified moment.
 * Fields that the system does not provide are missing.
 *
 * - `time` (uint64): monotonic time
 * - `num-cores` (double): number of CPUs that the process may use, by its
 *   affinity and the quotas of its cgroups
 * - `process-time` (uint64): CPU time of the process
 * - `num-cpus` (uint): number of CPUs that the process may run on
 * - `busy-time`, `idle-time` (uint64): time in which these CPUs ran any
 *   program, and in which they were idle
 * - `pressure-time` (uint64): time in which at least one thread was ready to
 *   run and waited for a CPU, in the cgroup of the process if that is known,
 *   otherwise on the whole machine
 * - `delay-time` (uint64): total time in which the running threads of the
 *   process were ready to run and waited for a CPU
 *
 * Returns: (transfer full): the counters
 *
 * Since: 0.1
 */
GstStructure *
gst_spdl_dup_cpu_stats (void)
{
  SpdlCpuTimes times;
  GstStructure *s;

  spdl_cpus_get_times (&times);
  s = gst_structure_new ("spdl-cpu-stats", "time", G_TYPE_UINT64,
      (guint64) g_get_monotonic_time () * GST_USECOND, "num-cores",
      G_TYPE_DOUBLE, spdl_cpus_get_limit (), "process-time", G_TYPE_UINT64,
      get_process_time (), NULL);
  if (times.n_cpus > 0)
    gst_structure_set (s, "num-cpus", G_TYPE_UINT, times.n_cpus, "busy-time",
        G_TYPE_UINT64, times.busy, "idle-time", G_TYPE_UINT64, times.idle,
        NULL);
  if (times.has_pressure)
    gst_structure_set (s, "pressure-time", G_TYPE_UINT64, times.pressure, NULL);
  if (times.has_delay)
    gst_structure_set (s, "delay-time", G_TYPE_UINT64, times.delay, NULL);
  return s;
}

/**
 * gst_spdl_set_background:
 * @background: %TRUE: load only on cores that no other thread wants
 *
 * Sets the scheduling policy of the workers of stages, and of the streaming
 * threads of loaders, that start after this call in this process: Linux's
 * policy for idle jobs instead of that for batch jobs. They then never delay
 * another thread, such as the trainer's main thread. On a machine whose cores
 * are all in use by other threads, they get almost no CPU time, and loading
 * nearly stops. Worker processes of spdlworkersrc have the property `nice`
 * instead.
 *
 * Threads that run already keep their policy, so call this before the first
 * loader starts. It has no effect where this policy does not exist.
 *
 * Since: 0.1
 */
void
gst_spdl_set_background (gboolean background)
{
  spdl_threads_set_background (background);
}
