/* gst-spdl: listing of a folder in an object store
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/folder/folder.h"

G_BEGIN_DECLS

/* Like spdl_folder_walk(), for the keys below @root, such as
 * s3://bucket/train/, in the same order. Keys that end in a slash, which some
 * tools create for folders, are skipped.
 *
 * @root: with a slash at its end */
gboolean spdl_objects_walk (const gchar *root, const gchar *pattern,
    SpdlIndexer *indexer, const SpdlFolderFuncs *funcs, guint64 *n_others,
    GError **error);

G_END_DECLS
