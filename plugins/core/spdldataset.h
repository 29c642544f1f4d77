/* gst-spdl: the list of a dataset's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DATASET_H__
#define __SPDL_DATASET_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a dataset holds: a URI, a label and other fields for each item, in
 * order, from a folder or a list. It keeps the text of the list (mapped) or the
 * paths of the folder, and a few bytes an item. Immutable once opened, so it
 * may be read from any thread. */

typedef enum {
  SPDL_LABEL_NONE,     /* -1 */
  SPDL_LABEL_FOLDER,   /* the number of the sorted top-level folder */
  SPDL_LABEL_MANIFEST, /* what the list says */
} SpdlLabel;

typedef struct _SpdlDataset SpdlDataset;

/* Opens a folder, walked recursively in sorted order, or a `.txt` or `.csv`
 * list.
 *
 * @pattern: which files of a folder are items, by their names
 * @warn: (nullable): is told, in a sentence, of what was left out and why
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlDataset *spdl_dataset_open (const gchar *location, const gchar *pattern,
    SpdlLabel label, void (*warn) (const gchar *text, gpointer user_data),
    gpointer user_data, GError **error);

void spdl_dataset_free (SpdlDataset *self);

guint64 spdl_dataset_get_size (const SpdlDataset *self);

/* By which to know the dataset again: of a list's bytes, or of the paths below
 * the folder, in order. The same wherever the list or the folder lies. */
guint64 spdl_dataset_get_hash (const SpdlDataset *self);

/* The URI (transfer full) of item @i, its label (-1 if it has none) and its
 * other fields (nullable, transfer full). */
gchar *spdl_dataset_get_item (
    const SpdlDataset *self, guint64 i, gint64 *label, GstStructure **extra);

G_END_DECLS

#endif /* __SPDL_DATASET_H__ */
