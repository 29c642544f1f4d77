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

/* A process gets the machine's physical memory at most, and less where a limit
 * of its cgroup or of a parent is lower: `docker run --memory=4g`, say. What
 * exceeds such a limit is not refused when it is allocated: the kernel ends the
 * process when the memory is first written. Whoever allocates what others ask
 * for must therefore know the limit.
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
