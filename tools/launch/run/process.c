/* gst-spdl-launch: resource usage of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/process.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static guint64
timeval_to_ns (const struct timeval *tv)
{
  return tv->tv_sec * G_GUINT64_CONSTANT (1000000000) +
         tv->tv_usec * G_GUINT64_CONSTANT (1000);
}

guint64
process_get_cpu_time (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return timeval_to_ns (&usage.ru_utime) + timeval_to_ns (&usage.ru_stime);
}

guint64
process_get_memory (void)
{
  unsigned long size = 0, resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");

  if (!file)
    return 0;
  if (fscanf (file, "%lu %lu", &size, &resident) != 2)
    resident = 0;
  fclose (file);
  return (guint64) resident * sysconf (_SC_PAGESIZE);
}

guint64
process_get_peak_memory (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (guint64) usage.ru_maxrss * 1024;
}

guint
process_get_rank (void)
{
  static const gchar *names[] = { "RANK", "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK", "JOB_COMPLETION_INDEX" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *text = g_getenv (names[i]);
    guint64 rank;

    if (text &&
        g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT, &rank, NULL))
      return rank;
  }
  return 0;
}
