/* gst-spdl: label and other fields of a sample in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* A byte range of the shard at @uri, and what spdlfetch has to know to unpack
 * it. Returns: (transfer full) */
gchar *
spdl_archive_notes_make_uri (const gchar *uri, const SpdlArchiveFile *file);

/* The fields of an item's `extra`: `key`; of each text, which is named by its
 * extension, what is in it, and of each other file but @payload its URI; and of
 * the JSON, if it is an object, a field for each member that is a string, a
 * number or a boolean.
 *
 * @uri: the shard's
 *
 * Returns: (transfer full): of a sample of which nothing was read yet */
GstStructure *spdl_archive_notes_new (const SpdlArchiveSample *sample,
    const gchar *uri, const SpdlArchiveFile *payload);

G_END_DECLS
