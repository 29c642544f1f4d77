/* gst-spdl: the index of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/samplekey.h"
#include "plugins/dataset/list/mappedfile.h"

G_BEGIN_DECLS

/* Which samples a shard has, and where their files lie in it. All numbers are
 * little-endian:
 *
 *     0   8   "spdltar", and a byte 1 or 2, the version: 2, some files are
 *             deflated
 *     8   8   number of samples
 *    16   8   the shard's size
 *    24   8   seconds (signed) of its last change
 *    32   8   nanoseconds of that
 *    40   8   hash of samples of the shard
 *    48   8   hash of the server's ETag or, without one, Last-Modified; 0: it
 *             was a file
 *    56   8   flags: 1, each sample has a payload without `extensions`
 *    64   8   number of texts that were too long to be kept
 *    72   8   hash of what is behind the header
 *    80   8   hash of the bytes 0 to 79
 *    88       for each sample, in 8 bytes: where its record is, counted from
 *             where the first one is; then the records
 *
 * A record:
 *
 *     0   8   label (signed); -1: none
 *     8   2   number of its files
 *    10   2   length of its key
 *    12  24   for each file:
 *             0   8   where it begins in the shard
 *             8   8   its size
 *            16   4   length of its text, if that is kept here
 *            20   2   length of its extension
 *            22   2   kind: SpdlArchiveKind; 32768 is added where its text is
 *                     kept, 16384 where it is deflated in the shard
 *             the key, then each file's extension, in lower case, its size in
 *             the shard (8) and its CRC-32 (4) where it is deflated, and text
 *
 * Hashes are spdl_fingerprint_add()'s. What is changed in it gets another
 * version. */

#define SPDL_ARCHIVE_INDEX_HEADER 88
#define SPDL_ARCHIVE_RECORD_HEAD 12
#define SPDL_ARCHIVE_RECORD_FILE 24
#define SPDL_ARCHIVE_FLAG_PAYLOADS 1
#define SPDL_ARCHIVE_KIND_KEPT 0x8000
#define SPDL_ARCHIVE_KIND_PACKED 0x4000
#define SPDL_ARCHIVE_RECORD_PACKING 12

/* The header's words, by their places. */
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
#define SPDL_ARCHIVE_INDEX_MARK "spdltar\1"
#define SPDL_ARCHIVE_INDEX_MARK_PACKED "spdltar\2"

/* Which shard it is of. */
typedef struct {
  SpdlStamp stamp;
  guint64 samples; /* their hash */
  guint64 validator;
} SpdlArchiveKey;

/* How a file of a ZIP is deflated. */
typedef struct {
  guint64 size; /* as it lies in the shard */
  guint32 checksum;
} SpdlArchivePacking;

typedef struct {
  guint64 first; /* byte in the shard */
  guint64 size;  /* unpacked */
  gboolean packed;
  SpdlArchivePacking packing;
  const gchar *extension; /* not terminated */
  guint16 extension_length;
  SpdlArchiveKind kind;
  const gchar *text; /* (nullable): not terminated */
  guint32 text_length;
} SpdlArchiveFile;

/* How many bytes of the shard it takes. */
static inline guint64
spdl_archive_file_get_length (const SpdlArchiveFile *file)
{
  return file->packed ? file->packing.size : file->size;
}

/* Looks into the index; nothing is copied. */
typedef struct {
  gint64 label;
  const gchar *key; /* not terminated */
  guint16 key_length;
  guint16 n_files;
  /* Where the next file is read. */
  const guint8 *files;
  const gchar *texts;
  const gchar *end;
} SpdlArchiveSample;

typedef struct _SpdlArchiveIndex SpdlArchiveIndex;

/* Takes what an index file holds, if all of it is as it was written.
 *
 * @data: (transfer full): by g_malloc()
 * @problem: (out): why not, if NULL is returned; to go behind a colon */
SpdlArchiveIndex *
spdl_archive_index_new (guint8 *data, gsize size, const gchar **problem);

/* The same for a file, which is mapped: whoever writes one renames it to its
 * name, and never changes it there. */
SpdlArchiveIndex *
spdl_archive_index_open (const gchar *path, const gchar **problem);

void spdl_archive_index_free (SpdlArchiveIndex *self);

void
spdl_archive_index_get_key (const SpdlArchiveIndex *self, SpdlArchiveKey *key);
guint64 spdl_archive_index_get_size (const SpdlArchiveIndex *self);
guint64 spdl_archive_index_get_hash (const SpdlArchiveIndex *self);
guint64 spdl_archive_index_get_n_long (const SpdlArchiveIndex *self);

/* Whether each sample has a payload, where no extensions are asked for. */
gboolean spdl_archive_index_has_payloads (const SpdlArchiveIndex *self);

/* All of it as it is in a file. */
const guint8 *
spdl_archive_index_get_data (const SpdlArchiveIndex *self, gsize *size);

/* Says that it is of a shard that a server knows by @validator. Not where it is
 * mapped. */
void spdl_archive_index_restamp (SpdlArchiveIndex *self, guint64 validator);

/* Lets go of the pages that were read, where it is mapped. */
void spdl_archive_index_forget (SpdlArchiveIndex *self);

/* FALSE: what is there makes no sense. @i: below the size */
gboolean spdl_archive_index_get_sample (
    const SpdlArchiveIndex *self, guint64 i, SpdlArchiveSample *sample);

/* The next of a sample's files. FALSE: there is none, or it makes no sense. */
gboolean
spdl_archive_sample_next (SpdlArchiveSample *sample, SpdlArchiveFile *file);

/* The file that is the sample's payload: the first of @extensions that it has
 * or, if they are NULL, its first media file, else its first file that is no
 * note. Empty files are none. @sample: of which nothing was read yet */
gboolean spdl_archive_sample_get_payload (const SpdlArchiveSample *sample,
    const gchar *const *extensions, SpdlArchiveFile *file);

typedef struct {
  SpdlArchiveIndex *index; /* of this one alone */
  GPtrArray *contents; /* GstBuffer, of its files in order; NULL where the text
                          is in the index */
  gsize size;          /* of all contents */
} SpdlSample;

/* Takes @index and @contents. */
SpdlSample *
spdl_sample_new (SpdlArchiveIndex *index, GPtrArray *contents, gsize size);
void spdl_sample_free (SpdlSample *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlSample, spdl_sample_free)

G_END_DECLS
