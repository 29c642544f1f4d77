/* gst-spdl: sample keys of the files of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a file of a sample is, by the end of its name. */
typedef enum {
  SPDL_ARCHIVE_OTHER, /* bytes */
  SPDL_ARCHIVE_MEDIA,
  SPDL_ARCHIVE_LABEL, /* an integer */
  SPDL_ARCHIVE_TEXT,
  SPDL_ARCHIVE_JSON,
} SpdlArchiveKind;

/* Splits the name of a file as WebDataset does: the key is the path up to the
 * first dot of the file's name, the extension all behind that dot.
 *
 * @key: (out): the length of the key
 *
 * Returns the extension, in @path; NULL if the file is of no sample: it has no
 * dot, begins with one, or lies in or is a `__name__`. */
const gchar *spdl_archive_name_split (const gchar *path, gsize *key);

/* "jpg, png" as a NULL-terminated array in lower case; NULL: there are none in
 * @text (nullable). */
gchar **spdl_archive_name_split_list (const gchar *text);

/* @extension: in lower case */
SpdlArchiveKind
spdl_archive_name_get_kind (const gchar *extension, gsize length);

/* Whether files of that kind are notes on others, and no payload. */
static inline gboolean
spdl_archive_kind_is_note (SpdlArchiveKind kind)
{
  return kind >= SPDL_ARCHIVE_LABEL;
}

G_END_DECLS
