/* gst-spdl: checks of the members of a shard that libarchive reads
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

/* Shared by the two readers of archives: archivewalk.c, which seeks from header
 * to header, and archivestream.c, which reads sequentially. Functions that
 * return FALSE set @error, in the domain of GST_RESOURCE_ERROR, with the name
 * of the shard. */

#define SPDL_TAR_BLOCK 512

/* Number of bytes in which spdl_archive_check_compression() recognizes
 * compression. */
#define SPDL_ARCHIVE_HEAD 6

gboolean spdl_archive_refuse (
    const gchar *name, GError **error, const gchar *why, const gchar *what);
gboolean spdl_archive_refuse_member (
    const gchar *name, GError **error, const gchar *path, const gchar *why);
gboolean spdl_archive_refuse_by_libarchive (
    const gchar *name, struct archive *archive, GError **error);

/* Returns FALSE if the archive is compressed as a whole, so that its members
 * have no byte ranges.
 *
 * @head: the first bytes of the archive, up to SPDL_ARCHIVE_HEAD
 * @is_stream: the archive is read sequentially, where gzip and zstd are
 *     supported */
gboolean spdl_archive_check_compression (const gchar *name, const guint8 *head,
    gsize size, gboolean is_stream, GError **error);

/* Checks that the archive is not truncated.
 *
 * @end: end of the last member and its padding */
gboolean spdl_archive_check_end (
    const gchar *name, struct archive *archive, guint64 end, GError **error);

/* Reads the next header like archive_read_next_header(), in the locale "C". In
 * others, libarchive composes the characters of names in pax headers, so that
 * keys would depend on the format and the locale. */
int spdl_archive_next_header (
    struct archive *archive, struct archive_entry **entry);

/* Returns (transfer full) (nullable) the path in UTF-8; NULL if there is
 * none. */
gchar *spdl_archive_dup_path (struct archive_entry *entry);

/* Returns TRUE for a regular file. Like WebDataset, excludes folders and
 * links. */
gboolean spdl_archive_is_file (struct archive_entry *entry);

/* Returns why the file cannot be used, or NULL if it can.
 *
 * @first: offset of its data
 * @whole: size of the shard */
const gchar *spdl_archive_find_obstacle (
    struct archive_entry *entry, guint64 first, guint64 whole);

/* Returns the end of a member, including its padding. */
static inline guint64
spdl_archive_end_of (guint64 first, guint64 size)
{
  return first + (size + SPDL_TAR_BLOCK - 1) / SPDL_TAR_BLOCK * SPDL_TAR_BLOCK;
}

G_END_DECLS
