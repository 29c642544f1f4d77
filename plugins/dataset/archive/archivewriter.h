/* gst-spdl: builder of a shard index
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* Maximum length of a text that the index contains, in bytes. */
#define SPDL_ARCHIVE_MAX_TEXT (16 << 20)

/* Collects the files of a shard in order. Consecutive files with the same key
 * form a sample, and after spdl_archive_writer_group() all of them. */
typedef struct _SpdlArchiveWriter SpdlArchiveWriter;

SpdlArchiveWriter *spdl_archive_writer_new (void);
void spdl_archive_writer_free (SpdlArchiveWriter *self);

/* Adds the next file. A file that has no key is skipped.
 *
 * @path: its name in the shard
 * @size: its uncompressed size
 * @packing: (nullable): NULL if the file is stored uncompressed
 * @text: (nullable): content of a note that the index is to contain
 *
 * Returns NULL, or why the shard cannot be used. */
const gchar *spdl_archive_writer_add (SpdlArchiveWriter *self,
    const gchar *path, guint64 first, guint64 size,
    const SpdlArchivePacking *packing, const gchar *text, gsize text_length);

/* Returns TRUE if the caller must pass the content of the file: it is a note
 * and short enough. */
gboolean spdl_archive_writer_wants (const gchar *path, guint64 size);

/* Groups files with the same key that are not adjacent. The samples have the
 * order of their first files. No file may be added after it.
 *
 * @path: (out) (transfer full): name of the file that is the reason
 *
 * Returns NULL, or why the shard cannot be used. */
const gchar *spdl_archive_writer_group (SpdlArchiveWriter *self, gchar **path);

/* Finishes the index. Returns (transfer full) the content of the index file. */
guint8 *spdl_archive_writer_finish (
    SpdlArchiveWriter *self, const SpdlArchiveKey *key, gsize *size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlArchiveWriter, spdl_archive_writer_free)

G_END_DECLS
