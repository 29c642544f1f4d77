/* gst-spdl: opens the index of a shard, or builds it
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

/* The index of DIR/NAME is in DIR/NAME.spdl-index or, if that cannot be
 * written, in the user's cache under the shard's path without links; that of a
 * URL in the cache under the URL, or at URL.spdl-index. One that is of another
 * shard, or of this one as it was, is not used. */

/* Whether @location is a URL and no path. */
gboolean spdl_archive_is_remote (const gchar *location);

/* What the index of @location is called, which lies beside it. */
gchar *spdl_archive_sidecar_of (const gchar *location);

/* Opens the shard itself. */
SpdlReader *spdl_archive_open_reader (
    const gchar *location, SpdlIndexer *indexer, GError **error);

/* Returns the shard's index, which is made and kept where there is none. From
 * any thread.
 *
 * @stamp: (out): of the shard
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlArchiveIndex *spdl_archive_open (const gchar *location, SpdlSidecarUse use,
    SpdlIndexer *indexer, SpdlStamp *stamp, GError **error);

/* Writes an index to @path. Returns an errno, 0 if it was written. */
int spdl_archive_store (
    const gchar *path, guint mode, const guint8 *data, gsize size);

G_END_DECLS
