/* gst-spdl: reader of a ZIP's central directory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads the offsets and attributes of a ZIP's members, including ZIP64. Other
 * data may precede or follow the archive. Functions that return a text return
 * the problem, to follow a colon in a message, or NULL on success. */

#define SPDL_ZIP_STORED 0
#define SPDL_ZIP_DEFLATED 8

/* Number of bytes at the end of a file that contain the end record with a
 * comment of any length, and without a comment. */
#define SPDL_ZIP_TAIL (SPDL_ZIP_SMALL_TAIL + 65535)
#define SPDL_ZIP_SMALL_TAIL 98

typedef struct {
  guint64 whole; /* size of the archive in bytes */
  guint64 at;    /* offset of the directory */
  guint64 size;
  guint64 n_members;
  guint64 end;   /* upper bound of the end of the directory */
  guint64 shift; /* difference between real and recorded offsets */
} SpdlZipDirectory;

typedef struct {
  const gchar *name; /* points into the directory; not terminated */
  gsize name_length;
  guint64 head; /* offset of the local header */
  guint64 packed_size;
  guint64 size; /* uncompressed size, which may be wrong */
  guint32 checksum;
  guint method;
  gboolean encrypted;
  gboolean is_file; /* neither folder nor link */
} SpdlZipMember;

typedef struct {
  const guint8 *next; /* next entry of the directory */
  gsize left;
  guint64 whole;
  guint64 shift;
  guint64 n_members;
} SpdlZip;

/* Returns TRUE if @data begins with the signature of a ZIP. */
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

/* Opens an archive in memory, and starts reading its directory. */
const gchar *spdl_zip_open (SpdlZip *self, const guint8 *data, gsize size);

/* Reads the next member. Must be called only while `left` is not 0. */
const gchar *spdl_zip_next (SpdlZip *self, SpdlZipMember *member);

/* Returns the size of a local header that spdl_zip_find_data() needs. */
gsize spdl_zip_get_head_size (const SpdlZip *self, const SpdlZipMember *member);

/* Reads the local header of a member. Returns NULL, or the problem as a
 * sentence without subject.
 *
 * @first: (out): offset of the data, of which `packed_size` bytes exist */
const gchar *spdl_zip_find_data (const SpdlZip *self,
    const SpdlZipMember *member, const guint8 *head, guint64 *first);

/* Inflates a deflated member to @out, which must have space for `size` bytes.
 * Returns NULL, or the problem as a sentence without subject. */
const gchar *spdl_zip_inflate (
    const SpdlZipMember *member, const guint8 *packed, guint8 *out);

gboolean spdl_zip_check_sum (const SpdlZipMember *member, const guint8 *data);

G_END_DECLS
