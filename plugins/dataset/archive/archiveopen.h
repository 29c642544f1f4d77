/* gst-spdl: loading and building of shard indexes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archiveindex.h"
#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* Returns the debug category of shards. */
GstDebugCategory *spdl_archive_get_category (void);

/* The index of DIR/NAME is DIR/NAME.spdl-index or, if that file cannot be
 * written, a file in the user's cache that is named by the shard's path with
 * symbolic links resolved. The index of a URL is a file in the cache that is
 * named by the URL, or is downloaded from URL.spdl-index. An index of another
 * shard, or of an older version of the shard, is ignored. */

/* Returns the path or URL of the index next to the shard. */
gchar *spdl_archive_sidecar_of (const gchar *location);

/* Opens the shard itself, without its index. */
SpdlReader *spdl_archive_open_reader (
    const gchar *location, SpdlIndexer *indexer, GError **error);

/* Loads the index of a shard, or builds and stores it. Callable from any
 * thread.
 *
 * @cursor: has the last part of the index afterwards, if that is in a file
 * @stamp: (out): size and modification time of the shard
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlArchiveIndex *spdl_archive_open (const gchar *location, SpdlSidecarUse use,
    SpdlIndexer *indexer, SpdlArchiveCursor *cursor, SpdlStamp *stamp,
    GError **error);

/* Writes an index to @path. Returns 0 or an errno. */
int spdl_archive_store (
    const gchar *path, guint mode, const guint8 *data, gsize size);

G_END_DECLS
