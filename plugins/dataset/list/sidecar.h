/* gst-spdl: index file beside a list or a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/list/listindex.h"

G_BEGIN_DECLS

/* The index of DIR/NAME is in DIR/.NAME.spdl-index or, if that cannot be
 * written, in the user's cache: gst-spdl/SHA256.spdl-index in $XDG_CACHE_HOME,
 * where SHA256 is that of the list's path, without links. */

typedef enum {
  SPDL_SIDECAR_NONE,
  SPDL_SIDECAR_AUTO, /* for lists that take long to index */
  SPDL_SIDECAR_ALWAYS,
} SpdlSidecarUse;

/* From how many bytes on a list has one with SPDL_SIDECAR_AUTO. It is indexed
 * in some 30 ms then. */
#define SPDL_SIDECAR_MIN_SIZE (16 << 20)

/* Looks for the index of @mapped_file in both places.
 *
 * @labels: whether labels must have been looked at
 * @classes: the hash of the classes that they must be; 0: of any
 * @hash: (out): of the list's bytes
 *
 * Returns NULL if there is none that is to be trusted. */
SpdlIndex *spdl_sidecar_load (const SpdlMappedFile *mapped_file,
    gboolean labels, guint64 classes, guint64 *hash);

/* Writes one, in the first place where that is possible. It is there as a whole
 * or not at all.
 *
 * Returns whether it is there. */
gboolean spdl_sidecar_store (const SpdlMappedFile *mapped_file,
    const SpdlIndex *index, gboolean labels, guint64 classes, guint64 hash);

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
