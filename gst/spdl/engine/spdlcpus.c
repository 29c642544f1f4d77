/* gst-spdl: CPUs that the process may use, and how busy they are
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlcpus.h"

#include "spdlcompat.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* The most that Linux can be built for. */
#define MAX_CPUS 8192

static struct {
  gchar *root;
  guint n_cpus;
} pretended;

/* Nullable; (transfer full). */
static gchar *
read_text (const gchar *root, const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_strconcat (root, folder, "/", name, NULL);
  gchar *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

/* Cgroups */

/* Versions 1 and 2 may both be mounted, each with a separate tree. */
typedef enum {
  CGROUP_V1,
  CGROUP_V2,
} Version;

static gboolean
has_word (const gchar *list, const gchar *word)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);

  return g_strv_contains ((const gchar *const *) words, word);
}

/* Finds the process's cgroup among lines such as `4:cpu,cpuacct:/docker/1` and,
 * of version 2, `0::/user.slice`. Nullable; (transfer full). */
static gchar *
find_cgroup (const gchar *root, Version version)
{
  g_autofree gchar *text = read_text (root, "/proc/self", "cgroup");
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);

  for (guint i = 0; lines[i]; i++) {
    g_auto (GStrv) fields = g_strsplit (lines[i], ":", 3);

    if (g_strv_length (fields) != 3 || fields[2][0] != '/')
      continue;
    if (version == CGROUP_V2 ? g_str_equal (fields[0], "0") && !*fields[1]
                             : has_word (fields[1], "cpu"))
      return g_strdup (fields[2]);
  }
  return NULL;
}

/* Returns the part of @path below @folder; NULL if it is not below. */
static const gchar *
skip_folder (const gchar *path, const gchar *folder)
{
  if (g_str_equal (folder, "/"))
    return path;
  if (!g_str_has_prefix (path, folder))
    return NULL;
  path += strlen (folder);
  return *path == '\0' || *path == '/' ? path : NULL;
}

/* A line is `36 35 0:32 ROOT MOUNT-POINT rw [TAG...] - TYPE SOURCE OPTIONS`:
 * ROOT is the cgroup that is seen at MOUNT-POINT. */
static gboolean
parse_mount (gchar **fields, Version version, gchar **root, gchar **point)
{
  const guint n = g_strv_length (fields);
  guint dash = 6;

  while (dash < n && !g_str_equal (fields[dash], "-"))
    dash++;
  if (dash + 3 >= n)
    return FALSE;
  if (version == CGROUP_V2 ? !g_str_equal (fields[dash + 1], "cgroup2")
                           : !g_str_equal (fields[dash + 1], "cgroup") ||
                                 !has_word (fields[dash + 3], "cpu"))
    return FALSE;
  /* Blanks and the like are octal escapes. */
  *root = g_strcompress (fields[3]);
  *point = g_strcompress (fields[4]);
  return TRUE;
}

/* Returns the folder that shows @cgroup, and in @top the length of its mount
 * point. In a container the mount point itself is what can be seen: of the
 * container's own cgroup, or of the one in which its names begin. */
static gchar *
find_folder (
    const gchar *root, Version version, const gchar *cgroup, gsize *top)
{
  g_autofree gchar *text = read_text (root, "/proc/self", "mountinfo");
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);
  g_autofree gchar *found = NULL;
  const gchar *below = NULL;

  for (guint i = 0; lines[i] && !below; i++) {
    g_auto (GStrv) fields = g_strsplit (lines[i], " ", -1);
    g_autofree gchar *mount_root = NULL, *point = NULL;

    if (!parse_mount (fields, version, &mount_root, &point))
      continue;
    below = skip_folder (cgroup, mount_root);
    if (below || !found) {
      g_free (found);
      found = g_steal_pointer (&point);
    }
  }
  if (!found) {
    found = g_strdup (
        version == CGROUP_V2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    below = cgroup;
  }
  /* `/../x` is outside of what the process may name. */
  if (!below || strstr (below, "/.."))
    below = "";
  *top = strlen (found);
  return g_strconcat (found, g_str_equal (below, "/") ? "" : below, NULL);
}

static double
divide (const gchar *quota, const gchar *period)
{
  guint64 q, p;

  if (!g_ascii_string_to_unsigned (quota, 10, 1, G_MAXINT64, &q, NULL) ||
      !g_ascii_string_to_unsigned (period, 10, 1, G_MAXINT64, &p, NULL))
    return INFINITY;
  return (double) q / p;
}

/* `400000 100000`, or `max 100000`. */
static double
read_quota_v2 (const gchar *root, const gchar *folder)
{
  g_autofree gchar *text = read_text (root, folder, "cpu.max");
  g_auto (GStrv) fields = g_strsplit (text ? g_strstrip (text) : "", " ", -1);

  return g_strv_length (fields) == 2 ? divide (fields[0], fields[1]) : INFINITY;
}

/* A number each; the quota is -1 where there is none. */
static double
read_quota_v1 (const gchar *root, const gchar *folder)
{
  g_autofree gchar *quota = read_text (root, folder, "cpu.cfs_quota_us");
  g_autofree gchar *period = read_text (root, folder, "cpu.cfs_period_us");

  if (!quota || !period)
    return INFINITY;
  return divide (g_strstrip (quota), g_strstrip (period));
}

static double
read_quota_of (const gchar *root, Version version)
{
  g_autofree gchar *cgroup = find_cgroup (root, version);
  g_autofree gchar *folder = NULL;
  double quota = INFINITY;
  gchar *slash;
  gsize top;

  if (!cgroup)
    return INFINITY;
  folder = find_folder (root, version, cgroup, &top);
  while (TRUE) {
    quota = MIN (quota, version == CGROUP_V2 ? read_quota_v2 (root, folder)
                                             : read_quota_v1 (root, folder));
    slash = strlen (folder) > top ? strrchr (folder + top, '/') : NULL;
    if (!slash)
      return quota;
    *slash = '\0';
  }
}

double
spdl_cpus_read_quota (const gchar *root)
{
  return MIN (read_quota_of (root, CGROUP_V1), read_quota_of (root, CGROUP_V2));
}

/* Counters */

/* Adds a line such as `cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL
 * ...`, where times that virtual machines of this one got are part of USER and
 * NICE.
 */
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
  g_autofree gchar *text = read_text (root, "/proc", "stat");
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
  /* Containers may show CPUs by other numbers. */
  if (times->n_cpus == 0)
    *times = all;
}

/* `some avg10=0.00 avg60=0.00 avg300=0.00 total=US`, and a line `full ...`. */
static gboolean
read_pressure (
    const gchar *root, const gchar *folder, const gchar *name, guint64 *ns)
{
  g_autofree gchar *text = read_text (root, folder, name);
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

/* A file `RUN-TIME DELAY TIMES` for each thread; threads that have ended no
 * longer count. */
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
    g_autofree gchar *text = read_text (root, thread, "schedstat");
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
  g_autofree gchar *cgroup = find_cgroup (root, CGROUP_V2);
  g_autofree gchar *folder = NULL;
  gsize top;

  *times = (SpdlCpuTimes){ 0 };
  read_stat (root, allowed, n, times);
  if (cgroup)
    folder = find_folder (root, CGROUP_V2, cgroup, &top);
  times->has_pressure =
      (folder &&
          read_pressure (root, folder, "cpu.pressure", &times->pressure)) ||
      read_pressure (root, "/proc/pressure", "cpu", &times->pressure);
  times->has_delay = read_delay (root, &times->delay);
}

/* This process */

static const gchar *
get_root (void)
{
  return pretended.root ? pretended.root : "";
}

static guint
count_affinity (void)
{
  gboolean allowed[MAX_CPUS];
  guint n;

  if (pretended.n_cpus > 0)
    return pretended.n_cpus;
  n = spdl_compat_get_affinity (allowed, MAX_CPUS);
  return n > 0 ? n : g_get_num_processors ();
}

double
spdl_cpus_get_limit (void)
{
  return MIN (count_affinity (), spdl_cpus_read_quota (get_root ()));
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
      pretended.n_cpus == 0 && spdl_compat_get_affinity (allowed, MAX_CPUS) > 0;

  spdl_cpus_read_times (get_root (), known ? allowed : NULL, MAX_CPUS, times);
}

void
spdl_cpus_pretend (const gchar *root, guint n_cpus)
{
  g_free (pretended.root);
  pretended.root = g_strdup (root);
  pretended.n_cpus = n_cpus;
}
