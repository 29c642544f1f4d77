/* gst-spdl: offsets of the lines of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/classes.h"
#include "plugins/dataset/list/mappedfile.h"

G_BEGIN_DECLS

/* Where every 32nd item of a list begins; the others are found by reading on
 * from there. Where that would take more than 2^24 offsets (128 MiB), it is
 * every 64th, 128th and so on: so the size has a bound, whatever the list's. */

#define SPDL_INDEX_FIRST_SHIFT 5
#define SPDL_INDEX_MAX_ENTRIES (1u << 24)

typedef struct _SpdlIndex SpdlIndex;

/* @max_entries: even, more than 0 */
SpdlIndex *spdl_index_new (guint max_entries);

/* One that was made before.
 *
 * @memory: (transfer full): what @offsets lies in, by g_malloc()
 * @offsets: ceil (@n_items / 2^@shift) of them, in order */
SpdlIndex *spdl_index_new_from_memory (
    gpointer memory, const guint64 *offsets, guint64 n_items, guint shift);

void spdl_index_free (SpdlIndex *self);

/* The next item begins at @offset. Not for one that was made before. */
void spdl_index_add (SpdlIndex *self, guint64 offset);

guint64 spdl_index_get_size (const SpdlIndex *self);

/* The classes that text labels of the list make.
 *
 * @classes: (transfer full) (nullable): NULL: it has none */
void spdl_index_set_classes (SpdlIndex *self, SpdlClasses *classes);

/* Returns: (transfer none) (nullable) */
const SpdlClasses *spdl_index_get_classes (const SpdlIndex *self);

/* Each 2^shift th item has an offset. */
guint spdl_index_get_shift (const SpdlIndex *self);

const guint64 *spdl_index_get_offsets (const SpdlIndex *self, guint *n);

/* The last item up to @i whose offset is known. @i: below the size
 *
 * @offset: (out): where it begins
 * @end: (out): where the next one begins whose offset is known; G_MAXUINT64:
 *     there is none */
guint64 spdl_index_find (
    const SpdlIndex *self, guint64 i, guint64 *offset, guint64 *end);

/* All numbers are little-endian:
 *
 *     0   8   "spdlidx", and a byte 2, the version
 *     8   4   flags: 1, labels have been looked at
 *    12   4   shift: each 2^shift th item has an offset
 *    16   8   the list's size
 *    24   8   seconds (signed) of its last change
 *    32   4   nanoseconds of that
 *    36   4   0
 *    40   8   hash of samples of the list
 *    48   8   hash of the list
 *    56   8   number of items
 *    64   8   hash of the offsets' bytes
 *    72   8   hash of the classes that labels had to be; 0: of any
 *    80   8   size of the names of the classes that the labels make
 *    88   8   hash of these names' bytes
 *    96   8   hash of the bytes 0 to 95
 *   104       the offsets of the items 0, 2^shift, 2 * 2^shift ..., 8 each;
 *             then the names, sorted by their bytes, each with a 0 after it
 *
 * Hashes are spdl_fingerprint_add()'s. What is changed in it gets another
 * version. */

#define SPDL_INDEX_FILE_HEADER 104
/* The largest one there is. */
#define SPDL_INDEX_FILE_MAX                                             \
  (SPDL_INDEX_FILE_HEADER + SPDL_INDEX_MAX_ENTRIES * sizeof (guint64) + \
      SPDL_CLASSES_MAX_SIZE)

/* Which list it is of. */
typedef struct {
  SpdlStamp stamp;
  guint64 samples; /* their hash */
  gboolean labels; /* were looked at, or are to have been */
  guint64 classes; /* the hash of those that labels must be, 0: of any */
  guint64 hash;    /* of the whole list; not compared */
} SpdlIndexKey;

/* Reads a file's content. It is only taken if all of it is as it was written,
 * and of the very list, which has not changed since.
 *
 * @data: (transfer full): by g_malloc()
 * @key: what the list is, and gets its hash
 * @problem: (out): why not, if NULL is returned; to go behind a colon */
SpdlIndex *spdl_index_file_read (
    guint8 *data, gsize size, SpdlIndexKey *key, const gchar **problem);

/* Writes to @fd. Returns an errno, 0 if all went well. */
int
spdl_index_file_write (int fd, const SpdlIndex *index, const SpdlIndexKey *key);

G_END_DECLS
