/* gst-spdl: index file next to a list or in the user's cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/list/listindex.h"
#include "plugins/dataset/list/datasetoptions.h"

G_BEGIN_DECLS

/* The index of DIR/NAME is DIR/.NAME.spdl-index or, if that cannot be written,
 * gst-spdl/SHA256.spdl-index in $XDG_CACHE_HOME. SHA256 is the hash of the
 * list's path with symbolic links resolved. */

/* Minimum size in bytes of a list that has an index file with
 * SPDL_SIDECAR_AUTO. Such a list is scanned in about 30 ms. */
#define SPDL_SIDECAR_MIN_SIZE (16 << 20)

/* Loads the index of @file from one of the two places.
 *
 * @labels: whether labels must have been parsed
 * @classes: hash of the allowed classes; 0: any
 * @format: hash of what else determines how lines are read
 * @hash: (out): hash of the list
 *
 * Returns NULL if there is no valid index. */
SpdlIndex *spdl_sidecar_load (const SpdlTextFile *file, gboolean labels,
    guint64 classes, guint64 format, guint64 *hash);

/* Writes the index atomically to the first of the two places that is writable.
 * Returns whether the file exists. */
gboolean spdl_sidecar_store (const SpdlTextFile *file, const SpdlIndex *index,
    gboolean labels, guint64 classes, guint64 format, guint64 hash);

#define SPDL_SIDECAR_SUFFIX ".spdl-index"

/* Returns the path of DIR/.NAME with the suffix. */
gchar *spdl_sidecar_file_beside (const gchar *path, const gchar *suffix);

/* Returns the path of gst-spdl/SHA256 with the suffix in $XDG_CACHE_HOME, where
 * SHA256 is the hash of @name. */
gchar *spdl_sidecar_file_in_cache (const gchar *name, const gchar *suffix);

/* Writes to @fd. Returns 0 or an errno. */
typedef int (*SpdlSidecarFileFunc) (int fd, gconstpointer user_data);

/* Writes a temporary file and renames it to @path, so that readers see a
 * complete file or none. The file is readable for those who may read a file of
 * @mode. Creates the cache folder if necessary. Returns 0 or an errno. */
int spdl_sidecar_file_store (const gchar *path, guint mode,
    SpdlSidecarFileFunc func, gconstpointer user_data);

G_END_DECLS
