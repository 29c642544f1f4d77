/* gst-spdl: list of the items of a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* What a dataset holds: a URI, a label and other fields for each item, in
 * order, from a folder, a list or shards. It keeps the text of the list
 * (mapped), the paths of the folder or the shards' indexes (mapped), and a few
 * bytes an item. For one thread at a time. */

typedef enum {
  SPDL_LABEL_NONE,     /* -1 */
  SPDL_LABEL_FOLDER,   /* the number of the top-level folder */
  SPDL_LABEL_MANIFEST, /* what the list or the shard says */
} SpdlLabel;

typedef struct _SpdlDataset SpdlDataset;

typedef struct {
  const gchar *location;
  const gchar *pattern; /* which files of a folder are items, by their names */
  SpdlLabel label;
  const gchar *weights; /* (nullable): the column of a `.csv` that has them */
  SpdlSidecarUse sidecar;
  const gchar *extensions; /* (nullable): which files of shards are items */
  const SpdlRemoteSettings *remote; /* how servers of shards are asked */
  const SpdlClasses *classes; /* (nullable): which labels may be; outlives the
                               * dataset */
} SpdlDatasetOptions;

/* Opens a folder, walked recursively in sorted order, a `.txt` or `.csv` list,
 * or shards.
 *
 * @warn: (nullable): is told, in a sentence, of what was left out and why
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR; it is
 * GST_RESOURCE_ERROR_SEEK for shards that can only be streamed. */
SpdlDataset *spdl_dataset_open (const SpdlDatasetOptions *options,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error);

void spdl_dataset_free (SpdlDataset *self);

guint64 spdl_dataset_get_size (const SpdlDataset *self);

/* The folder that relative paths are relative to; nullable: shards have none.
 */
const gchar *spdl_dataset_get_root (const SpdlDataset *self);

/* By which to know the dataset again: of a list's bytes, of the paths below
 * the folder, in order, or of the shards' indexes. The same wherever the list,
 * the folder or the shards lie. */
guint64 spdl_dataset_get_hash (const SpdlDataset *self);

/* The items' weights, double (transfer full), once; NULL if none are wanted. */
GArray *spdl_dataset_steal_weights (SpdlDataset *self);

/* What numbers the labels: the classes that were given; else the top-level
 * folders, or what the list's text labels make; (nullable): labels are
 * integers.
 */
const SpdlClasses *spdl_dataset_get_classes (const SpdlDataset *self);

/* The URI (transfer full) of item @i, its label (-1 if it has none) and its
 * other fields (nullable, transfer full).
 *
 * Returns NULL with @error set if a list or a shard has changed since it was
 * opened. */
gchar *spdl_dataset_get_item (SpdlDataset *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error);

G_END_DECLS
