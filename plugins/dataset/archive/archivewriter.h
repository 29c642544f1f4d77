/* gst-spdl: builds the index of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* Texts that are longer are not kept. */
#define SPDL_ARCHIVE_MAX_TEXT 65536

/* Collects a shard's files, in their order, and makes samples of those that
 * follow each other and share a key. */
typedef struct _SpdlArchiveWriter SpdlArchiveWriter;

SpdlArchiveWriter *spdl_archive_writer_new (void);
void spdl_archive_writer_free (SpdlArchiveWriter *self);

/* The next file.
 *
 * @path: its name in the shard; of no sample, it is passed over
 * @size: when it is unpacked
 * @packing: (nullable): how it is deflated; NULL: it is not
 * @text: (nullable): what is in it, if it is a note that is to be kept
 *
 * Returns why the shard cannot be used; NULL if it can. */
const gchar *spdl_archive_writer_add (SpdlArchiveWriter *self,
    const gchar *path, guint64 first, guint64 size,
    const SpdlArchivePacking *packing, const gchar *text, gsize text_length);

/* Whether what is in that file is to be given with it: it is a note, and short
 * enough. */
gboolean spdl_archive_writer_wants (const gchar *path, guint64 size);

/* Ends it.
 *
 * Returns: (transfer full): the index, as it is in a file */
guint8 *spdl_archive_writer_finish (
    SpdlArchiveWriter *self, const SpdlArchiveKey *key, gsize *size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlArchiveWriter, spdl_archive_writer_free)

G_END_DECLS
