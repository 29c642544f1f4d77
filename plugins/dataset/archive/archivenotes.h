/* gst-spdl: label and metadata fields of a sample in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* Returns (transfer full) the URI of a byte range of the shard at @uri, with
 * the parameters that spdlfetch needs to decompress it. */
gchar *
spdl_archive_notes_make_uri (const gchar *uri, const SpdlArchiveFile *file);

/* Creates the `extra` structure of an item (transfer full). It has the field
 * `key`; a field with the content of each text, named by its extension; a field
 * with the URI of each other file except @payload; and a field for each string,
 * number or boolean member of the sample's JSON object.
 *
 * @sample: a sample of which no file was read yet
 * @uri: the URI of the shard */
GstStructure *spdl_archive_notes_new (const SpdlArchiveSample *sample,
    const gchar *uri, const SpdlArchiveFile *payload);

G_END_DECLS
