/* gst-spdl: dataset of indexed shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/classes.h"
#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* Concatenation of the samples of several shards. An index that is stored in a
 * file is read from there. Not thread-safe. */
typedef struct _SpdlArchiveSet SpdlArchiveSet;

/* Returns TRUE if @location names shards: tar or ZIP files, local or on a
 * server. It may contain `{0000..0127}` and `{a,b}` and, if it is a path, glob
 * characters. */
gboolean spdl_archive_set_is_set (const gchar *location);

/* Opens all shards, several at a time. Returns NULL with @error set, in the
 * domain of GST_RESOURCE_ERROR; the code is GST_RESOURCE_ERROR_SEEK if a server
 * does not support byte ranges. */
SpdlArchiveSet *spdl_archive_set_open (
    const gchar *location, const SpdlDatasetOptions *options, GError **error);

void spdl_archive_set_free (SpdlArchiveSet *self);

guint64 spdl_archive_set_get_size (const SpdlArchiveSet *self);

/* Returns a hash of the shards' indexes in order and of the extensions. */
guint64 spdl_archive_set_get_hash (const SpdlArchiveSet *self);

/* Returns the URI of item @i (transfer full), which is a byte range of a shard,
 * and sets its label (SPDL_NO_LABEL: none, or a text, which is the field `cls`)
 * and @extra (transfer full). Returns NULL with
 * @error set if the shard or its index has changed since it was opened. */
gchar *spdl_archive_set_get_item (SpdlArchiveSet *self, guint64 i,
    gint64 *label, GstStructure **extra, GError **error);

G_END_DECLS
