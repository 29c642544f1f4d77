/* gst-spdl: number of usable CPUs and their load
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/cpus.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "gst/spdl/engine/cgroup.h"
#include "gst/spdl/engine/compat.h"

/* Maximum number of CPUs of a Linux kernel. */
#define MAX_CPUS 8192

static guint n_pretended; /* number of CPUs; 0: the real number */

/* Cgroups */

static double
divide_numbers (const gchar *quota, const gchar *period)
{
  guint64 q, p;

  if (!g_ascii_string_to_unsigned (quota, 10, 1, G_MAXINT64, &q, NULL) ||
      !g_ascii_string_to_unsigned (period, 10, 1, G_MAXINT64, &p, NULL))
    return INFINITY;
  return (double) q / p;
}

/* Parses `400000 100000` or `max 100000`. */
static double
read_quota_v2 (const gchar *root, const gchar *folder)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, folder, "cpu.max");
  g_auto (GStrv) fields = g_strsplit (text ? g_strstrip (text) : "", " ", -1);

  return g_strv_length (fields) == 2 ? divide_numbers (fields[0], fields[1])
                                     : INFINITY;
}

/* Reads two files with a number each; the quota is -1 if there is none. */
static double
read_quota_v1 (const gchar *root, const gchar *folder)
{
  g_autofree gchar *quota =
      spdl_cgroup_read_text (root, folder, "cpu.cfs_quota_us");
  g_autofree gchar *period =
      spdl_cgroup_read_text (root, folder, "cpu.cfs_period_us");

  if (!quota || !period)
    return INFINITY;
  return divide_numbers (g_strstrip (quota), g_strstrip (period));
}

double
spdl_cpus_read_quota (const gchar *root)
{
  static const SpdlCgroupReader reader = { "cpu", read_quota_v1,
    read_quota_v2 };

  return spdl_cgroup_find_least (root, &reader);
}

/* Counters */

/* Adds a line such as `cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL
 * ...`. USER and NICE include the time of guests of this machine. */
static gboolean
add_ticks (const gchar *line, SpdlCpuTimes *times)
{
  const guint64 tick = G_GUINT64_CONSTANT (1000000000) / sysconf (_SC_CLK_TCK);
  guint64 t[8] = { 0 };

  if (sscanf (line,
          "%*s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
          " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
          " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
          &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 4)
    return FALSE;
  times->idle += (t[3] + t[4]) * tick;
  times->busy += (t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) * tick;
  return TRUE;
}

static void
read_stat (
    const gchar *root, const gboolean *allowed, guint n, SpdlCpuTimes *times)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, "/proc", "stat");
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);
  SpdlCpuTimes all = { 0 };

  for (guint i = 0; lines[i]; i++) {
    const gchar *digits = lines[i] + 3;
    guint64 cpu;

    if (!g_str_has_prefix (lines[i], "cpu") || !g_ascii_isdigit (*digits))
      continue;
    if (!add_ticks (lines[i], &all))
      continue;
    all.n_cpus++;
    cpu = g_ascii_strtoull (digits, NULL, 10);
    if (allowed && cpu < n && allowed[cpu] && add_ticks (lines[i], times))
      times->n_cpus++;
  }
  /* Containers may number the CPUs differently. */
  if (times->n_cpus == 0)
    *times = all;
}

/* Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=US`, followed by a line
 * `full ...`. */
static gboolean
read_pressure (
    const gchar *root, const gchar *folder, const gchar *name, guint64 *ns)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, folder, name);
  g_auto (GStrv) fields = NULL;
  guint64 us;

  if (!text)
    return FALSE;
  text[strcspn (text, "\n")] = '\0';
  fields = g_strsplit (text, " ", -1);
  if (g_strv_length (fields) != 5 || !g_str_equal (fields[0], "some") ||
      !g_str_has_prefix (fields[4], "total=") ||
      !g_ascii_string_to_unsigned (
          fields[4] + strlen ("total="), 10, 0, G_MAXUINT64 / 1000, &us, NULL))
    return FALSE;
  *ns = us * 1000;
  return TRUE;
}

/* Sums up a file `RUN-TIME DELAY TIMES` for each thread. Threads that have
 * ended do not count. */
static gboolean
read_delay (const gchar *root, guint64 *ns)
{
  g_autofree gchar *folder = g_strconcat (root, "/proc/self/task", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  gboolean found = FALSE;

  *ns = 0;
  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *thread = g_strconcat ("/proc/self/task/", name, NULL);
    g_autofree gchar *text = spdl_cgroup_read_text (root, thread, "schedstat");
    guint64 delay;

    if (!text || sscanf (text, "%*u %" G_GUINT64_FORMAT " %*u", &delay) != 1)
      continue;
    *ns += delay;
    found = TRUE;
  }
  return found;
}

void
spdl_cpus_read_times (
    const gchar *root, const gboolean *allowed, guint n, SpdlCpuTimes *times)
{
  g_autofree gchar *folder = spdl_cgroup_dup_folder (root);

  *times = (SpdlCpuTimes){ 0 };
  read_stat (root, allowed, n, times);
  times->has_pressure =
      (folder &&
          read_pressure (root, folder, "cpu.pressure", &times->pressure)) ||
      read_pressure (root, "/proc/pressure", "cpu", &times->pressure);
  times->has_delay = read_delay (root, &times->delay);
}

/* This process */

static guint
count_affinity (void)
{
  gboolean allowed[MAX_CPUS];
  guint n;

  if (n_pretended > 0)
    return n_pretended;
  n = spdl_compat_get_affinity (allowed, MAX_CPUS);
  return n > 0 ? n : g_get_num_processors ();
}

double
spdl_cpus_get_limit (void)
{
  return MIN (
      count_affinity (), spdl_cpus_read_quota (spdl_cgroup_get_root ()));
}

guint
spdl_cpus_count (void)
{
  return MAX (ceil (spdl_cpus_get_limit ()), 1);
}

void
spdl_cpus_get_times (SpdlCpuTimes *times)
{
  gboolean allowed[MAX_CPUS];
  const gboolean known =
      n_pretended == 0 && spdl_compat_get_affinity (allowed, MAX_CPUS) > 0;

  spdl_cpus_read_times (
      spdl_cgroup_get_root (), known ? allowed : NULL, MAX_CPUS, times);
}

void
spdl_cpus_pretend (const gchar *root, guint n_cpus)
{
  spdl_cgroup_pretend (root);
  n_pretended = n_cpus;
}

/* Batch scheduling */

static __thread gboolean is_ours;
static __thread gboolean is_loading;
static gint is_background; /* atomic */

gboolean
spdl_thread_has_batch_scheduling (void)
{
  return is_loading;
}

void
spdl_thread_set_batch_scheduling (gboolean enabled)
{
  is_loading = enabled;
  /* Any other policy was set on purpose, and is kept. */
  if ((enabled || is_ours) && spdl_compat_set_batch_policy (enabled))
    is_ours = enabled;
}

void
spdl_thread_begin_work (void)
{
  spdl_thread_set_batch_scheduling (TRUE);
  if (is_ours && spdl_threads_are_background ())
    spdl_compat_set_idle_policy ();
}

void
spdl_threads_set_background (gboolean background)
{
  g_atomic_int_set (&is_background, background);
}

gboolean
spdl_threads_are_background (void)
{
  return g_atomic_int_get (&is_background);
}
