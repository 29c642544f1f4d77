/* gst-spdl: limits of cgroups, and free memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/cgroup.h"

#include <math.h>
#include <string.h>
#include "gst/spdl/engine/compat.h"
#include <stdio.h>

static gchar *pretended;

gchar *
spdl_cgroup_read_text (
    const gchar *root, const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_strconcat (root, folder, "/", name, NULL);
  gchar *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

/* Finding the cgroup */

static gboolean
has_word (const gchar *list, const gchar *word)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);

  return g_strv_contains ((const gchar *const *) words, word);
}

/* Finds the cgroup of the process among lines such as `4:cpu,cpuacct:/docker/1`
 * and, in version 2, `0::/user.slice`.
 *
 * @controller: of version 1; NULL: version 2
 *
 * Returns: (transfer full) (nullable) */
static gchar *
find_cgroup (const gchar *root, const gchar *controller)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, "/proc/self", "cgroup");
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);

  for (guint i = 0; lines[i]; i++) {
    g_auto (GStrv) fields = g_strsplit (lines[i], ":", 3);

    if (g_strv_length (fields) != 3 || fields[2][0] != '/')
      continue;
    if (controller ? has_word (fields[1], controller)
                   : g_str_equal (fields[0], "0") && !*fields[1])
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

/* Parses a line `36 35 0:32 ROOT MOUNT-POINT rw [TAG...] - TYPE SOURCE
 * OPTIONS`, in which ROOT is the cgroup that is mounted at MOUNT-POINT. */
static gboolean
parse_mount (
    gchar **fields, const gchar *controller, gchar **root, gchar **point)
{
  const guint n = g_strv_length (fields);
  guint dash = 6;

  while (dash < n && !g_str_equal (fields[dash], "-"))
    dash++;
  if (dash + 3 >= n)
    return FALSE;
  if (controller ? !g_str_equal (fields[dash + 1], "cgroup") ||
                       !has_word (fields[dash + 3], controller)
                 : !g_str_equal (fields[dash + 1], "cgroup2"))
    return FALSE;
  /* Blanks and similar characters are octal escapes. */
  *root = g_strcompress (fields[3]);
  *point = g_strcompress (fields[4]);
  return TRUE;
}

/* Returns the folder of @cgroup, and in @top the length of its mount point. In
 * a container, only the mount point itself may be visible: for the container's
 * cgroup, or for the root of its cgroup namespace. */
static gchar *
find_folder (
    const gchar *root, const gchar *controller, const gchar *cgroup, gsize *top)
{
  g_autofree gchar *text =
      spdl_cgroup_read_text (root, "/proc/self", "mountinfo");
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);
  g_autofree gchar *found = NULL;
  const gchar *below = NULL;

  for (guint i = 0; lines[i] && !below; i++) {
    g_auto (GStrv) fields = g_strsplit (lines[i], " ", -1);
    g_autofree gchar *mount_root = NULL, *point = NULL;

    if (!parse_mount (fields, controller, &mount_root, &point))
      continue;
    below = skip_folder (cgroup, mount_root);
    if (below || !found) {
      g_free (found);
      found = g_steal_pointer (&point);
    }
  }
  if (!found) {
    found = g_strjoin ("/", "/sys/fs/cgroup", controller, NULL);
    below = cgroup;
  }
  /* `/../x` is outside of the cgroup namespace. */
  if (!below || strstr (below, "/.."))
    below = "";
  *top = strlen (found);
  return g_strconcat (found, g_str_equal (below, "/") ? "" : below, NULL);
}

gchar *
spdl_cgroup_dup_folder (const gchar *root)
{
  g_autofree gchar *cgroup = find_cgroup (root, NULL);
  gsize top;

  return cgroup ? find_folder (root, NULL, cgroup, &top) : NULL;
}

/* Limits */

static double
find_least_of (const gchar *root, const gchar *controller, SpdlCgroupFunc read)
{
  g_autofree gchar *cgroup = find_cgroup (root, controller);
  g_autofree gchar *folder = NULL;
  double least = INFINITY;
  gchar *slash;
  gsize top;

  if (!cgroup)
    return INFINITY;
  folder = find_folder (root, controller, cgroup, &top);
  while (TRUE) {
    least = MIN (least, read (root, folder));
    slash = strlen (folder) > top ? strrchr (folder + top, '/') : NULL;
    if (!slash)
      return least;
    *slash = '\0';
  }
}

double
spdl_cgroup_find_least (const gchar *root, const SpdlCgroupReader *reader)
{
  return MIN (find_least_of (root, reader->controller, reader->read_v1),
      find_least_of (root, NULL, reader->read_v2));
}

/* This process */

const gchar *
spdl_cgroup_get_root (void)
{
  return pretended ? pretended : "";
}

void
spdl_cgroup_pretend (const gchar *root)
{
  g_free (pretended);
  pretended = g_strdup (root);
}

/* Memory */

/* Reads a file that contains one number. Returns INFINITY if it contains none,
 * such as `max`. */
static double
read_number (const gchar *root, const gchar *folder, const gchar *name)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, folder, name);
  guint64 number;

  return text && g_ascii_string_to_unsigned (
                     g_strstrip (text), 10, 1, G_MAXUINT64, &number, NULL)
             ? number
             : INFINITY;
}

/* Reads the limit of version 2. A process above `memory.high` is throttled,
 * which stops a loader as well, so it counts as a limit. */
static double
read_limit_v2 (const gchar *root, const gchar *folder)
{
  return MIN (read_number (root, folder, "memory.max"),
      read_number (root, folder, "memory.high"));
}

/* Reads the limit of version 1. Without a limit, the file has a number beyond
 * the memory of any machine. */
static double
read_limit_v1 (const gchar *root, const gchar *folder)
{
  return read_number (root, folder, "memory.limit_in_bytes");
}

/* Reads `MemTotal:       16303232 kB`. In some containers, the value is the
 * limit of the container. */
static double
read_total (const gchar *root)
{
  g_autofree gchar *text = spdl_cgroup_read_text (root, "/proc", "meminfo");
  guint64 kilobytes;

  if (text &&
      sscanf (text, "MemTotal: %" G_GUINT64_FORMAT " kB", &kilobytes) == 1 &&
      kilobytes > 0)
    return kilobytes * 1024.0;
  return INFINITY;
}

static guint64
to_bytes (double limit)
{
  return limit < 0x1p63 ? (guint64) limit : G_MAXUINT64;
}

guint64
spdl_memory_read_limit (const gchar *root)
{
  static const SpdlCgroupReader reader = { "memory", read_limit_v1,
    read_limit_v2 };

  return to_bytes (
      MIN (read_total (root), spdl_cgroup_find_least (root, &reader)));
}

guint64
spdl_memory_get_limit (void)
{
  const gchar *root = spdl_cgroup_get_root ();
  const guint64 limit = spdl_memory_read_limit (root);
  const guint64 physical = *root ? 0 : spdl_compat_get_physical_memory ();

  return physical > 0 ? MIN (limit, physical) : limit;
}

guint64
spdl_memory_get_share (void)
{
  return spdl_memory_get_limit () / 4;
}
