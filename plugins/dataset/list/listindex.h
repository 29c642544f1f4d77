/* gst-spdl: where the items of a list are
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_INDEX_H__
#define __SPDL_INDEX_H__

#include "plugins/dataset/list/classes.h"

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

G_END_DECLS

#endif /* __SPDL_INDEX_H__ */
