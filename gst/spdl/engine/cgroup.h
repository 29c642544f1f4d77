/* gst-spdl: limits of the cgroups of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Cgroups are how Linux limits the processes of a container or of a service.
 * Both versions may be in use at the same time, each with a separate hierarchy,
 * and a limit of a parent applies to its children.
 *
 * @root is the folder below which /proc and /sys are looked for: "" except in
 *     tests. */

/* Reads the limit of a cgroup. Returns INFINITY if it has none, or if the file
 * cannot be parsed.
 *
 * @folder: folder of the cgroup, below @root */
typedef double (*SpdlCgroupFunc) (const gchar *root, const gchar *folder);

/* A limit, and the functions that read it in both versions of cgroups. */
typedef struct {
  const gchar *controller; /* name in version 1, such as "cpu" */
  SpdlCgroupFunc read_v1;
  SpdlCgroupFunc read_v2;
} SpdlCgroupReader;

/* Returns the lowest limit of the process's cgroup and its parents, in the
 * hierarchies of both versions; INFINITY if there is none. */
double
spdl_cgroup_find_least (const gchar *root, const SpdlCgroupReader *reader);

/* Returns the folder, below @root, of the process's version 2 cgroup (transfer
 * full, nullable). */
gchar *spdl_cgroup_dup_folder (const gchar *root);

/* Reads a small kernel file (transfer full, nullable). */
gchar *spdl_cgroup_read_text (
    const gchar *root, const gchar *folder, const gchar *name);

/* Returns the folder below which system files are read: "" except in tests. */
const gchar *spdl_cgroup_get_root (void);

/* Reads system files below @root, for tests; NULL restores the default. No
 * other thread may read limits meanwhile. */
SPDL_PRIVATE_API
void spdl_cgroup_pretend (const gchar *root);

G_END_DECLS
