/* gst-spdl: dataset: items of a folder, a list, shards or a table
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/arrow/arrowtable.h"
#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* Ordered items of a dataset, each with a URI, a label and other fields, from a
 * folder, a list, shards or a table in memory. A dataset keeps the text of a
 * list (mapped), the paths of a folder or the indexes of shards (mapped), and a
 * few bytes per item. Not thread-safe. */

typedef struct _SpdlDataset SpdlDataset;

/* Opens a folder, which is listed recursively in sorted order, a list, shards,
 * or a table.
 *
 * @options: what they point to must outlive the dataset
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR; the code
 * is GST_RESOURCE_ERROR_SEEK for shards that can only be streamed. */
SpdlDataset *
spdl_dataset_open (const SpdlDatasetOptions *options, GError **error);

void spdl_dataset_free (SpdlDataset *self);

/* Returns TRUE if the number of items is unknown, and items can only be read in
 * their order. */
gboolean spdl_dataset_is_streamed (const SpdlDataset *self);

/* Returns the parts of a table that is read in parts, NULL for others. */
const GstSpdlArrowPart *
spdl_dataset_get_parts (const SpdlDataset *self, guint *n_parts);

/* See spdl_arrow_parts_plan(). Only for a table in parts. */
void spdl_dataset_plan (SpdlDataset *self, const SpdlReadPlan *plan);

/* Begins an epoch of a streamed dataset. Does nothing for others. */
void spdl_dataset_begin_epoch (SpdlDataset *self);

/* Sets whether spdl_dataset_get_item() of a streamed dataset or a table in
 * parts must not wait. Can be called by any thread. */
void spdl_dataset_set_flushing (SpdlDataset *self, gboolean flushing);

/* Returns the number of items; the largest possible one if it is unknown. */
guint64 spdl_dataset_get_size (const SpdlDataset *self);

/* Returns the base of relative paths (nullable: shards have none). */
const gchar *spdl_dataset_get_root (const SpdlDataset *self);

/* Returns a hash that identifies the dataset: of the bytes of the list, of the
 * ordered paths relative to the folder, of the indexes of the shards, or of the
 * rows of the table. It does not depend on the location. */
guint64 spdl_dataset_get_hash (const SpdlDataset *self);

/* Returns the weights of the items as double (transfer full) at the first call;
 * NULL if the dataset has no weights. */
GArray *spdl_dataset_steal_weights (SpdlDataset *self);

/* Returns the classes of the labels: those set by the caller; otherwise the
 * top-level folders, or the text labels of a list or a table. NULL if labels
 * are integers. */
const SpdlClasses *spdl_dataset_get_classes (const SpdlDataset *self);

/* Returns TRUE if missing labels were reported when the dataset was opened. */
gboolean spdl_dataset_has_checked_labels (const SpdlDataset *self);

/* Returns the URI of item @i (transfer full), and sets its label
 * (SPDL_NO_LABEL: none), its other fields @extra and, from a table, its content
 * @carried (nullable, transfer full). Returns NULL after the last item of a
 * streamed dataset, or with @error set: if the list or shard has changed since
 * it was opened, in the domain of GST_RESOURCE_ERROR, or if the wait was
 * interrupted, in that of G_IO_ERROR. */
gchar *spdl_dataset_get_item (SpdlDataset *self, guint64 i, gint64 *label,
    GstStructure **extra, GstSpdlCarried **carried, GError **error);

G_END_DECLS
