/* gst-spdl: members of a shard, as libarchive reads them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <glib.h>

G_BEGIN_DECLS

/* What both ways through a shard have: from header to header, and through all
 * of it. Those that return FALSE set @error, in the domain of
 * GST_RESOURCE_ERROR, with the shard's name. */

#define SPDL_TAR_BLOCK 512

/* Bytes by which spdl_archive_check_compression() knows what is compressed. */
#define SPDL_ARCHIVE_HEAD 6

gboolean spdl_archive_refuse (
    const gchar *name, GError **error, const gchar *why, const gchar *what);
gboolean spdl_archive_refuse_member (
    const gchar *name, GError **error, const gchar *path, const gchar *why);
gboolean spdl_archive_refuse_by_libarchive (
    const gchar *name, struct archive *archive, GError **error);

/* Returns FALSE if the archive is compressed as a whole, so that its members
 * have no byte ranges. @head: what it begins with, up to SPDL_ARCHIVE_HEAD
 * bytes; @is_stream: it is read from its beginning, where gzip and zstd are
 * decompressed */
gboolean spdl_archive_check_compression (const gchar *name, const guint8 *head,
    gsize size, gboolean is_stream, GError **error);

/* Where the last member ends, with what fills its block up.
 *
 * Returns FALSE if the archive ends where that does. */
gboolean spdl_archive_check_end (
    const gchar *name, struct archive *archive, guint64 end, GError **error);

/* Returns: (transfer full) (nullable): in UTF-8; NULL: it has none */
gchar *spdl_archive_dup_path (struct archive_entry *entry);

/* Folders and links are no files, to WebDataset, either. */
gboolean spdl_archive_is_file (struct archive_entry *entry);

/* Why the file cannot be used; NULL: it can.
 * @first: where its bytes begin
 * @whole: the shard's size */
const gchar *spdl_archive_find_obstacle (
    struct archive_entry *entry, guint64 first, guint64 whole);

/* Where a member ends that begins at @first, with what fills its block up. */
static inline guint64
spdl_archive_end_of (guint64 first, guint64 size)
{
  return first + (size + SPDL_TAR_BLOCK - 1) / SPDL_TAR_BLOCK * SPDL_TAR_BLOCK;
}

G_END_DECLS
