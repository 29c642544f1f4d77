/* gst-spdl: sample keys and extensions of the files in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Role of a file in a sample, derived from its extension. */
typedef enum {
  SPDL_ARCHIVE_OTHER, /* binary data */
  SPDL_ARCHIVE_MEDIA,
  SPDL_ARCHIVE_LABEL, /* an integer */
  SPDL_ARCHIVE_TEXT,
  SPDL_ARCHIVE_JSON,
} SpdlArchiveKind;

/* Splits a file name as WebDataset does: the key is the path up to the first
 * dot of the base name, and the extension is the text after that dot.
 *
 * @key: (out): the length of the key
 *
 * Returns the extension, which points into @path; NULL if the file belongs to
 * no sample, since its base name has no dot or starts with one, or its path is
 * reserved (`__name__`). */
const gchar *spdl_archive_name_split (const gchar *path, gsize *key);

/* Splits a list such as "jpg, png" into a NULL-terminated array in lower case.
 * Returns NULL if @text (nullable) contains no extension. */
gchar **spdl_archive_name_split_list (const gchar *text);

/* @extension: in lower case */
SpdlArchiveKind
spdl_archive_name_get_kind (const gchar *extension, gsize length);

/* Returns TRUE if files of that kind are metadata of other files rather than
 * payloads. */
static inline gboolean
spdl_archive_kind_is_note (SpdlArchiveKind kind)
{
  return kind >= SPDL_ARCHIVE_LABEL;
}

G_END_DECLS
