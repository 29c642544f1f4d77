/* gst-spdl: memory limit of the process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

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
