/* gst-spdl: index of a list: offsets of its items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/classes.h"
#include "plugins/dataset/list/textfile.h"

G_BEGIN_DECLS

/* Offsets of every 32nd item of a list; the items in between are found by
 * parsing. If there would be more than 2^24 offsets (128 MiB), every 64th,
 * 128th and so on is kept, which limits the memory for lists of any size. */

#define SPDL_INDEX_FIRST_SHIFT 5
#define SPDL_INDEX_MAX_ENTRIES (1u << 24)

typedef struct _SpdlIndex SpdlIndex;

/* @max_entries: even, more than 0 */
SpdlIndex *spdl_index_new (guint max_entries);

/* Creates an index from existing offsets.
 *
 * @memory: (transfer full): block that contains @offsets, allocated with
 *     g_malloc()
 * @offsets: ceil (@n_items / 2^@shift) offsets, in order */
SpdlIndex *spdl_index_new_from_memory (
    gpointer memory, const guint64 *offsets, guint64 n_items, guint shift);

void spdl_index_free (SpdlIndex *self);

/* Adds the next item, which begins at @offset. Only for an index created with
 * spdl_index_new(). */
void spdl_index_add (SpdlIndex *self, guint64 offset);

/* Counts the next item as one without a label. */
void spdl_index_count_unlabelled (SpdlIndex *self);

/* Returns the number of items without a label, and the first of them. */
guint64 spdl_index_get_n_unlabelled (const SpdlIndex *self, guint64 *first);

guint64 spdl_index_get_size (const SpdlIndex *self);

/* Sets the classes of the list's text labels.
 *
 * @classes: (transfer full) (nullable) */
void spdl_index_set_classes (SpdlIndex *self, SpdlClasses *classes);

/* Returns: (transfer none) (nullable) */
const SpdlClasses *spdl_index_get_classes (const SpdlIndex *self);

/* Returns the shift: each 2^shift th item has an offset. */
guint spdl_index_get_shift (const SpdlIndex *self);

const guint64 *spdl_index_get_offsets (const SpdlIndex *self, guint *n);

/* Finds the last item up to @i that has an offset, and returns its number.
 *
 * @i: below the size
 * @offset: (out): its offset
 * @end: (out): the next known offset; G_MAXUINT64: none */
guint64 spdl_index_find (
    const SpdlIndex *self, guint64 i, guint64 *offset, guint64 *end);

/* Format of the index file. All numbers are little-endian. Header (offset, size
 * in bytes, content):
 *
 *     0   8   "spdlidx", and a byte 3, the version
 *     8   4   flags: 1, labels were parsed
 *    12   4   shift: each 2^shift th item has an offset
 *    16   8   size of the list
 *    24   8   modification time of the list, seconds (signed)
 *    32   4   its nanoseconds
 *    36   4   0
 *    40   8   hash of excerpts of the list, XOR those of the names of the
 * columns of the URI and the label unless they are "uri" and "label" 48   8
 * hash of the list 56   8   number of items 64   8   hash of the bytes of the
 * offsets 72   8   hash of the allowed classes; 0: any 80   8   size of the
 * names of the classes of text labels 88   8   hash of the bytes of these names
 *    96   8   number of items without a label; 0 if labels were not parsed
 *   104   8   the first of them
 *   112   8   hash of the bytes 0 to 111
 *   120       offsets of the items 0, 2^shift, 2 * 2^shift ..., 8 bytes each;
 *             then the names, sorted by their bytes, each with a 0 after it
 *
 * Hashes are those of spdl_fingerprint_add(). Any change of the format needs a
 * new version. */

#define SPDL_INDEX_FILE_HEADER 120
/* Maximum size of an index file. */
#define SPDL_INDEX_FILE_MAX                                             \
  (SPDL_INDEX_FILE_HEADER + SPDL_INDEX_MAX_ENTRIES * sizeof (guint64) + \
      SPDL_CLASSES_MAX_SIZE)

/* Identity of a list and of the settings that its index depends on. */
typedef struct {
  SpdlStamp stamp;
  guint64 samples; /* hash of excerpts and of the named columns */
  gboolean labels; /* whether labels were or must have been parsed */
  guint64 classes; /* hash of the allowed classes; 0: any */
  guint64 hash;    /* hash of the list; not compared */
} SpdlIndexKey;

/* Parses an index file. Returns the index only if the file is intact and
 * belongs to the unchanged list.
 *
 * @data: (transfer full): allocated with g_malloc()
 * @key: (inout): identity of the list; its hash is set
 * @problem: (out): the reason if NULL is returned, to follow a colon in a
 *     message */
SpdlIndex *spdl_index_file_read (
    guint8 *data, gsize size, SpdlIndexKey *key, const gchar **problem);

/* Writes an index file to @fd. Returns 0 or an errno. */
int
spdl_index_file_write (int fd, const SpdlIndex *index, const SpdlIndexKey *key);

G_END_DECLS
