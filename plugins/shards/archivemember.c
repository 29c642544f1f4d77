/* gst-spdl: checks of the members of a shard that libarchive reads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/archivemember.h"

#include <gst/gst.h>
#include <locale.h>
#include <string.h>

#include "plugins/common/fail.h"

gboolean
spdl_archive_refuse (
    const gchar *name, GError **error, const gchar *why, const gchar *what)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" cannot be used as a shard: %s%s", name, why, what);
}

gboolean
spdl_archive_refuse_member (
    const gchar *name, GError **error, const gchar *path, const gchar *why)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "\"%s\" cannot be used as a shard because of \"%s\" in it: %s", name,
      path, why);
}

gboolean
spdl_archive_refuse_by_libarchive (
    const gchar *name, struct archive *archive, GError **error)
{
  const gchar *reason = archive_error_string (archive);
  g_autofree gchar *valid = g_utf8_make_valid (
      reason ? reason : "libarchive cannot read it, and gives no reason", -1);

  return spdl_archive_refuse (name, error, "", valid);
}

static const struct {
  const gchar *mark;
  gsize size;
  const gchar *name;
  gboolean streams; /* supported in sequential reads */
} compressions[] = {
  { "\037\213", 2, "gzip", TRUE },
  { "BZh", 3, "bzip2" },
  { "\3757zXZ", 5, "xz" },
  { "(\265/\375", 4, "zstd", TRUE },
  { "\4\"M\30", 4, "lz4" },
  { "\037\235", 2, "compress" },
  { "LZIP", 4, "lzip" },
};

gboolean
spdl_archive_check_compression (const gchar *name, const guint8 *head,
    gsize size, gboolean is_stream, GError **error)
{
  if (size == 0)
    return spdl_archive_refuse (name, error, "the file is empty", "");
  for (guint i = 0; i < G_N_ELEMENTS (compressions); i++)
    if (size >= compressions[i].size &&
        memcmp (head, compressions[i].mark, compressions[i].size) == 0 &&
        !(is_stream && compressions[i].streams))
      return spdl_archive_refuse (name, error,
          "byte ranges are not available, because the archive is compressed as "
          "a whole: unpack it first, from ",
          compressions[i].name);
  return TRUE;
}

static gboolean
is_zip (struct archive *archive)
{
  return (archive_format (archive) & ARCHIVE_FORMAT_BASE_MASK) ==
         ARCHIVE_FORMAT_ZIP;
}

/* A tar ends with two blocks of zeros, one of which may be missing. */
gboolean
spdl_archive_check_end (
    const gchar *name, struct archive *archive, guint64 end, GError **error)
{
  const guint64 position = archive_filter_bytes (archive, 0);

  return is_zip (archive) || position >= end + SPDL_TAR_BLOCK ||
         spdl_archive_refuse (name, error,
             "the end of the archive is missing, so files after the last one "
             "may be lost",
             "");
}

/* Escapes bytes that are not UTF-8 as in a URI, so that files with different
 * names never have the same key. */
static gchar *
escape_path (const gchar *path)
{
  const gchar *end;
  GString *text;

  if (g_utf8_validate (path, -1, &end))
    return g_strdup (path);
  text = g_string_new (NULL);
  while (!g_utf8_validate (path, -1, &end)) {
    g_string_append_len (text, path, end - path);
    g_string_append_printf (text, "%%%02X", (guchar) *end);
    path = end + 1;
  }
  g_string_append (text, path);
  return g_string_free (text, FALSE);
}

int
spdl_archive_next_header (struct archive *archive, struct archive_entry **entry)
{
  static gsize plain = 0;
  locale_t before;
  int status;

  if (g_once_init_enter (&plain))
    g_once_init_leave (
        &plain, (gsize) newlocale (LC_CTYPE_MASK, "C", (locale_t) 0));
  before = uselocale ((locale_t) plain);
  status = archive_read_next_header (archive, entry);
  uselocale (before);
  return status;
}

gchar *
spdl_archive_dup_path (struct archive_entry *entry)
{
  const gchar *path = archive_entry_pathname (entry);

  return path ? escape_path (path) : NULL;
}

gboolean
spdl_archive_is_file (struct archive_entry *entry)
{
  return archive_entry_filetype (entry) == AE_IFREG &&
         !archive_entry_hardlink (entry);
}

const gchar *
spdl_archive_find_obstacle (
    struct archive_entry *entry, guint64 first, guint64 whole)
{
  const gint64 size = archive_entry_size (entry);

  if (archive_entry_is_encrypted (entry))
    return "the member is encrypted";
  if (archive_entry_sparse_count (entry) > 0)
    return "the member is sparse, so its bytes are not contiguous: create the "
           "tar without -S";
  if (!archive_entry_size_is_set (entry) || size < 0 || first > whole ||
      (guint64) size > whole - first)
    return "the member extends past the end, so the archive is cut off";
  return NULL;
}
