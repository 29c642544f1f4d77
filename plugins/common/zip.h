/* gst-spdl: directory of a ZIP archive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the members of an archive lie, ZIP64 ones too; also of one that has
 * something else in front of it, or behind its end. Functions that return a
 * text return what is wrong with the archive, to go behind a colon, or NULL. */

#define SPDL_ZIP_STORED 0
#define SPDL_ZIP_DEFLATED 8

/* The last bytes that contain the end of an archive, with a comment of any
 * length; and without a comment. */
#define SPDL_ZIP_TAIL (SPDL_ZIP_SMALL_TAIL + 65535)
#define SPDL_ZIP_SMALL_TAIL 98

typedef struct {
  guint64 whole; /* bytes of the archive */
  guint64 at;    /* of the directory */
  guint64 size;
  guint64 n_members;
  guint64 end;   /* what lies behind the directory begins here, at the latest */
  guint64 shift; /* by which all places are higher than the archive says */
} SpdlZipDirectory;

typedef struct {
  const gchar *name; /* in the directory; not terminated */
  gsize name_length;
  guint64 head; /* where the member's own header lies, before its data */
  guint64 packed_size;
  guint64 size; /* when it is unpacked, as the archive claims */
  guint32 checksum;
  guint method;
  gboolean encrypted;
  gboolean is_file; /* neither a folder nor a link */
} SpdlZipMember;

typedef struct {
  const guint8 *next; /* entry of the directory */
  gsize left;
  guint64 whole;
  guint64 shift;
  guint64 n_members;
} SpdlZip;

/* Returns TRUE if @data begins with the mark of a ZIP archive. */
gboolean spdl_zip_is_zip (const guint8 *data, gsize size);

/* Searches the last @size bytes of @whole for the end record.
 *
 * @has_end: (out): whether it was found */
const gchar *spdl_zip_find_directory (SpdlZipDirectory *self,
    const guint8 *tail, gsize size, guint64 whole, gboolean *has_end);

/* Returns TRUE if @data starts with a directory; the first 4 bytes suffice. */
gboolean
spdl_zip_is_directory (const SpdlZipDirectory *self, const guint8 *data);

/* Corrects the position of the directory if other data precedes the archive.
 * Returns FALSE if it does not fit. */
gboolean spdl_zip_shift_directory (SpdlZipDirectory *self);

/* Starts reading a directory. @data: the directory, which must stay valid */
void spdl_zip_begin (
    SpdlZip *self, const SpdlZipDirectory *directory, const guint8 *data);

/* Opens an archive in memory. */
const gchar *spdl_zip_open (SpdlZip *self, const guint8 *data, gsize size);

/* Reads the next member while bytes are `left`. */
const gchar *spdl_zip_next (SpdlZip *self, SpdlZipMember *member);

/* Returns how many bytes of a member's own header spdl_zip_find_data() needs.
 */
gsize spdl_zip_get_head_size (const SpdlZip *self, const SpdlZipMember *member);

/* Reads the member's own header. Returns what is wrong with the member, a
 * sentence without a subject, or NULL.
 *
 * @first: (out): where its data begins, of which `packed_size` bytes are there
 */
const gchar *spdl_zip_find_data (const SpdlZip *self,
    const SpdlZipMember *member, const guint8 *head, guint64 *first);

/* Inflates a deflated member to @out, which has room for what it says. Returns
 * what is wrong with the member, a sentence without a subject, or NULL. */
const gchar *spdl_zip_inflate (
    const SpdlZipMember *member, const guint8 *packed, guint8 *out);

gboolean spdl_zip_check_sum (const SpdlZipMember *member, const guint8 *data);

G_END_DECLS
