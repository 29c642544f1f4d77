/* gst-spdl: the directory of a ZIP archive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_ZIP_H__
#define __SPDL_ZIP_H__

#include <glib.h>

G_BEGIN_DECLS

/* Where the members of an archive in memory lie, ZIP64 ones too. All that it
 * says is within the archive. */

#define SPDL_ZIP_STORED 0
#define SPDL_ZIP_DEFLATED 8

typedef struct {
  const gchar *name; /* not terminated */
  gsize name_length;
  guint method;
  gboolean encrypted;
  guint32 checksum;
  const guint8 *data;
  gsize packed_size;
  guint64 size; /* when it is unpacked, as the archive claims */
} SpdlZipMember;

typedef struct {
  const guint8 *data;
  gsize n_bytes;
  gsize at;  /* of the next entry */
  gsize end; /* of the directory */
  guint64 n_members;
} SpdlZip;

/* Whether it begins as an archive does. */
gboolean spdl_zip_is_zip (const guint8 *data, gsize size);

/* Finds the directory of @data, which it keeps. Both return what is wrong, a
 * sentence without an end, or NULL. */
const gchar *spdl_zip_open (SpdlZip *self, const guint8 *data, gsize size);

/* Reads the next of `n_members` members. */
const gchar *spdl_zip_next (SpdlZip *self, SpdlZipMember *member);

G_END_DECLS

#endif /* __SPDL_ZIP_H__ */
