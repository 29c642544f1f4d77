/* gst-spdl: shared memory of a fixed size
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Creates a sealed memfd of @size bytes. Returns -1 with errno set on
 * failure. */
SPDL_PRIVATE_API
int spdl_memfd_open (gsize size);

/* Returns whether a seal prevents shrinking. Access to a mapping past the end
 * of its file would raise SIGBUS. */
SPDL_PRIVATE_API
gboolean spdl_memfd_keeps_size (int fd);

/* Maps a file for reading and writing and populates its pages, so that later
 * accesses cause no page faults. Returns NULL with errno set on failure. */
SPDL_PRIVATE_API
gpointer spdl_memfd_map_populated (int fd, gsize size);

G_END_DECLS
