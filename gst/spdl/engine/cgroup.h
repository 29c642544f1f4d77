/* gst-spdl: limits of cgroups, and free memory
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

/* A process can use the physical memory of the machine, or less if its cgroup
 * or a parent has a lower limit, for example with `docker run --memory=4g`. An
 * allocation above such a limit does not fail. Instead, the kernel kills the
 * process when the memory is first written. Code that allocates memory on
 * request must therefore know the limit.
 *
 * Files are read at each call. */

/* Returns the bytes that the process may use; G_MAXUINT64 if that is unknown.
 * @root: as for cgroup.h */
guint64 spdl_memory_read_limit (const gchar *root);

/* Returns the number of bytes that this process may use. */
SPDL_PRIVATE_API
guint64 spdl_memory_get_limit (void);

/* Returns the default maximum size of an item: a quarter of
 * spdl_memory_get_limit(). */
SPDL_PRIVATE_API
guint64 spdl_memory_get_share (void);

G_END_DECLS
