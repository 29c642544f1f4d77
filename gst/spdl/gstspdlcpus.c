/* gst-spdl: CPUs that the process may use, and how busy they are
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
 * A process may use fewer CPUs than the machine has: those of its affinity, and
 * the CPU time that the quotas of its cgroup and of that's parents grant, as in
 * a container that was started with `--cpus=4`. All of gst-spdl counts them
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
 * Counts the cores that the process may use: the least of its CPU affinity and
 * the CPU quotas of its cgroup and of that's parents (cgroup v1 and v2). A
 * fraction counts as a core. Limits are read at each call.
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
 * gst_spdl_get_cpu_stats:
 *
 * Reads how busy the CPUs are, for gst_spdl_diagnose_with_cpus(). The structure
 * is called `spdl-cpu-stats` and has these fields, of which times are in ns and
 * count from some moment in the past:
 *
 * - `time` (uint64): the monotonic time
 * - `num-cores` (double): the CPUs' worth of time that the process may use, by
 *   its affinity and the quotas of its cgroups
 * - `process-time` (uint64): the CPU time of the process
 * - `num-cpus` (uint), `busy-time`, `idle-time` (uint64): how many CPUs the
 *   process may run on, and for how long these worked for all programs
 *   together, and did not
 * - `pressure-time` (uint64): for how long at least one thread was ready to run
 *   and waited for a CPU, in the process's cgroup where that is known, else on
 *   the whole machine
 * - `delay-time` (uint64): how long the threads of the process that still run
 *   were ready to run and waited for a CPU, all together
 *
 * Fields that the system does not tell are missing.
 *
 * Returns: (transfer full): the counters
 *
 * Since: 0.1
 */
GstStructure *
gst_spdl_get_cpu_stats (void)
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
