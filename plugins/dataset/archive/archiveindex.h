/* gst-spdl: index of a shard: samples and their byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/textfile.h"

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

/* Format of the index file of a shard, which lists its samples and the byte
 * ranges of their files. All numbers are little-endian. Header (offset, size in
 * bytes, content):
 *
 *     0   8   "spdltar", and a byte with the version, 7 or 8; version 8 has
 *             deflated files
 *     8   8   number of samples
 *    16   8   size of the shard
 *    24   8   modification time of the shard, seconds (signed)
 *    32   8   its nanoseconds
 *    40   8   hash of excerpts of the shard
 *    48   8   hash of the server's ETag or, without one, Last-Modified; 0: the
 *             shard was a local file
 *    56   8   flags: 1, each sample has a payload without `extensions`; 2, each
 *             sample has a label; 4, no sample has a label or a `.cls`; 8, the
 *             extension of a payload is that of another file in another sample
 *    64   8   number of texts that were left out because of their length
 *    72   8   hash of the bytes after the header
 *    80   8   hash of the bytes 0 to 79
 *    88       offsets of the records, 8 bytes per sample, relative to the first
 *             record; then the records
 *
 * Record:
 *
 *     0   8   label (signed); -1: none
 *     8   2   number of files
 *    10   2   length of the key
 *    12  24   for each file:
 *             0   8   offset in the shard
 *             8   8   uncompressed size
 *            16   4   length of the text, if the index contains it
 *            20   2   length of the extension
 *            22   2   SpdlArchiveKind, plus 32768 if the index contains the
 *                     text, plus 16384 if the shard holds the file deflated
 *             the key; then for each file its lower-case extension, its
 *             compressed size (8) and CRC-32 (4) if it is deflated, and its
 *             text
 *
 * Hashes are those of spdl_fingerprint_add(). Any change of the format needs a
 * new version. */

#define SPDL_ARCHIVE_INDEX_HEADER 88
#define SPDL_ARCHIVE_RECORD_HEAD 12
#define SPDL_ARCHIVE_RECORD_FILE 24
#define SPDL_ARCHIVE_FLAG_PAYLOADS 1
#define SPDL_ARCHIVE_FLAG_LABELS 2
#define SPDL_ARCHIVE_FLAG_NO_LABELS 4
#define SPDL_ARCHIVE_FLAG_ROLES 8
#define SPDL_ARCHIVE_KIND_KEPT 0x8000
#define SPDL_ARCHIVE_KIND_PACKED 0x4000
#define SPDL_ARCHIVE_RECORD_PACKING 12

/* Indices of the 8-byte words of the header. */
enum {
  SPDL_ARCHIVE_WORD_MARK,
  SPDL_ARCHIVE_WORD_N_SAMPLES,
  SPDL_ARCHIVE_WORD_SIZE,
  SPDL_ARCHIVE_WORD_SECONDS,
  SPDL_ARCHIVE_WORD_NANOSECONDS,
  SPDL_ARCHIVE_WORD_SAMPLES,
  SPDL_ARCHIVE_WORD_VALIDATOR,
  SPDL_ARCHIVE_WORD_FLAGS,
  SPDL_ARCHIVE_WORD_N_LONG,
  SPDL_ARCHIVE_WORD_HASH,
  SPDL_ARCHIVE_WORD_HEADER_HASH,
  SPDL_ARCHIVE_N_WORDS,
};
#define SPDL_ARCHIVE_INDEX_MARK "spdltar\7"
#define SPDL_ARCHIVE_INDEX_MARK_PACKED "spdltar\10"

/* Identity of a shard. */
typedef struct {
  SpdlStamp stamp;
  guint64 samples; /* hash of excerpts */
  guint64 validator;
} SpdlArchiveKey;

/* Compressed form of a deflated file in a ZIP. */
typedef struct {
  guint64 size; /* compressed */
  guint32 checksum;
} SpdlArchivePacking;

typedef struct {
  guint64 first; /* offset in the shard */
  guint64 size;  /* uncompressed */
  gboolean packed;
  SpdlArchivePacking packing;
  const gchar *extension; /* not terminated */
  guint16 extension_length;
  SpdlArchiveKind kind;
  const gchar *text; /* (nullable): not terminated */
  guint32 text_length;
} SpdlArchiveFile;

/* Returns the number of bytes that the file takes up in the shard. */
static inline guint64
spdl_archive_file_get_length (const SpdlArchiveFile *file)
{
  return file->packed ? file->packing.size : file->size;
}

/* A sample whose strings point into the index or its cursor. The last fields
 * are the position of the next file to read. */
typedef struct {
  gint64 label;
  const gchar *key; /* not terminated */
  guint16 key_length;
  guint16 n_files;
  /* Position of the next file. */
  const guint8 *files;
  const gchar *texts;
  const gchar *end;
} SpdlArchiveSample;

/* The content of an index file, in memory or in the file. Others may write the
 * file, so it is read and not mapped: a mapped file that becomes shorter kills
 * the process. Not thread-safe. */
typedef struct _SpdlArchiveIndex SpdlArchiveIndex;

/* The parts of an index that were read last. A cursor serves any number of
 * indexes, one after the other, so that they need no memory. */
typedef struct {
  const SpdlArchiveIndex *index; /* nullable */
  guint64 next;                  /* the sample after the last one */
  SpdlFileWindow places;
  SpdlFileWindow records;
} SpdlArchiveCursor;

/* Forgets what was read, but keeps the memory. */
void spdl_archive_cursor_reset (SpdlArchiveCursor *self);
void spdl_archive_cursor_clear (SpdlArchiveCursor *self);

/* Parses the content of an index file, and verifies its hashes.
 *
 * @data: (transfer full): allocated with g_malloc()
 * @problem: (out): the reason if NULL is returned, to follow a colon in a
 *     message */
SpdlArchiveIndex *
spdl_archive_index_new (guint8 *data, gsize size, const gchar **problem);

/* Opens an index file and verifies its hashes. Writers rename a new file to its
 * name, and do not change it.
 *
 * @cursor: has the last part of the content afterwards */
SpdlArchiveIndex *spdl_archive_index_open (
    const gchar *path, SpdlArchiveCursor *cursor, const gchar **problem);

/* Closes the file, if the index is in one. The next sample that is read opens
 * it again; if it then has other content, that fails. */
void spdl_archive_index_close (SpdlArchiveIndex *self);

/* Checks that the samples which were read since the last call are those of the
 * file that was opened; sets @error otherwise, in the domain of
 * GST_RESOURCE_ERROR. The kernel sets the new time of a file before it changes
 * the content, so the check comes after the read. */
gboolean spdl_archive_index_check (SpdlArchiveIndex *self, GError **error);

void spdl_archive_index_free (SpdlArchiveIndex *self);

void
spdl_archive_index_get_key (const SpdlArchiveIndex *self, SpdlArchiveKey *key);
guint64 spdl_archive_index_get_size (const SpdlArchiveIndex *self);
guint64 spdl_archive_index_get_hash (const SpdlArchiveIndex *self);
guint64 spdl_archive_index_get_n_long (const SpdlArchiveIndex *self);

/* Returns TRUE if each sample has a payload when no extensions are set. */
gboolean spdl_archive_index_has_payloads (const SpdlArchiveIndex *self);

/* Returns TRUE if SpdlArchiveRoles finds an extension with both roles. */
gboolean spdl_archive_index_has_roles (const SpdlArchiveIndex *self);

/* Returns 1 if each sample has a label, 0 if none has one, and -1 if some may
 * have one. */
gint spdl_archive_index_has_labels (const SpdlArchiveIndex *self);

/* Returns the content of the index; NULL if it is in a file. */
const guint8 *
spdl_archive_index_get_data (const SpdlArchiveIndex *self, gsize *size);

/* Returns TRUE if both indexes have the same content. */
gboolean spdl_archive_index_is_equal (
    const SpdlArchiveIndex *self, const SpdlArchiveIndex *other);

/* Sets the validator by which a server identifies the shard. The index must not
 * be in a file. */
void spdl_archive_index_restamp (SpdlArchiveIndex *self, guint64 validator);

/* Reads sample @i, which must be below the size.
 *
 * @cursor: (nullable): holds @sample until it is used again; NULL only if the
 *     index is in memory
 *
 * Returns FALSE if its record is invalid or cannot be read, which
 * spdl_archive_index_check() tells apart. */
gboolean spdl_archive_index_get_sample (SpdlArchiveIndex *self, guint64 i,
    SpdlArchiveCursor *cursor, SpdlArchiveSample *sample);

/* Reads the record at @place of @size bytes of records, but does not check that
 * its key is UTF-8. Returns FALSE if it is invalid. */
gboolean spdl_archive_sample_read (SpdlArchiveSample *sample,
    const guint8 *records, gsize size, guint64 place);

/* Reads the next file of a sample. Returns FALSE after the last file, or if the
 * record is invalid. */
gboolean
spdl_archive_sample_next (SpdlArchiveSample *sample, SpdlArchiveFile *file);

/* Returns TRUE if all files of the sample are valid and lie in the first @size
 * bytes of the shard. No file of @sample may have been read yet. */
gboolean
spdl_archive_sample_is_within (const SpdlArchiveSample *sample, guint64 size);

/* Returns TRUE if the sample has a label: a `.cls` that is not empty. No file
 * of @sample may have been read yet. */
gboolean spdl_archive_sample_has_label (const SpdlArchiveSample *sample);

/* Finds the payload of a sample: the file with the first of @extensions that
 * the sample has or, if @extensions is NULL, the media file or else the file
 * that is not a note whose extension is the first in the order of bytes. Empty
 * files are skipped. No file of @sample may have been read yet. Returns FALSE
 * if there is no payload. */
gboolean spdl_archive_sample_get_payload (const SpdlArchiveSample *sample,
    const gchar *const *extensions, SpdlArchiveFile *file);

typedef struct {
  SpdlArchiveIndex *index; /* contains this sample only */
  GPtrArray *contents;     /* GstBuffer of each file in order; NULL if the index
                              contains the text */
  gsize size;              /* of all contents, in bytes */
  gboolean unchecked;      /* the shard may have had its key before */
} SpdlSample;

/* Takes ownership of @index and @contents. */
SpdlSample *
spdl_sample_new (SpdlArchiveIndex *index, GPtrArray *contents, gsize size);
void spdl_sample_free (SpdlSample *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlSample, spdl_sample_free)

G_END_DECLS
