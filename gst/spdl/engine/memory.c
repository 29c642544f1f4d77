/* gst-spdl: memory limit of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/memory.h"

#include <math.h>
#include <stdio.h>

#include "gst/spdl/engine/cgroup.h"
#include "gst/spdl/engine/compat.h"

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
