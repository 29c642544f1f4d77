/* gst-spdl: fake files of /proc and cgroups
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MAX_FILES 10

#define V2_MOUNT "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                          \
  "32 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"     \
  "33 24 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup" \
  " cgroup rw,cpu,cpuacct\n"

typedef struct {
  const gchar *path;
  const gchar *text;
} File;

/* Writes @files, up to the first without a path, to a new folder.
 * Returns: (transfer full): the folder; free and remove it with
 * remove_tree() */
gchar *make_tree (const File files[MAX_FILES]);
void remove_tree (gchar *root);

G_END_DECLS
