/* gst-spdl: files that are kept beside others, or in the user's cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SIDECAR_FILE_H__
#define __SPDL_SIDECAR_FILE_H__

#include <glib.h>

G_BEGIN_DECLS

#define SPDL_SIDECAR_SUFFIX ".spdl-index"

/* gst-spdl/SHA256.spdl-index in $XDG_CACHE_HOME, where SHA256 is that of
 * @name. */
gchar *spdl_sidecar_file_in_cache (const gchar *name);

/* Writes to @fd. Returns an errno, 0 if all went well. */
typedef int (*SpdlSidecarFileFunc) (int fd, gconstpointer user_data);

/* Writes a file aside and renames it to @path, so that it is there as a whole
 * or not at all, for all that may read a file of @mode. The folder in the cache
 * is made where it is missing.
 *
 * Returns an errno, 0 if it was written. */
int spdl_sidecar_file_store (const gchar *path, guint mode,
    SpdlSidecarFileFunc func, gconstpointer user_data);

/* Returns an errno, 0 if all was written. */
int spdl_sidecar_file_write_all (int fd, gconstpointer data, gsize size);

G_END_DECLS

#endif /* __SPDL_SIDECAR_FILE_H__ */
