/* gst-spdl: lists of items: .txt, .csv and .jsonl
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/datasetoptions.h"

G_BEGIN_DECLS

/* A `.txt`, `.csv` or `.jsonl` list of any size, or that of a COCO `.json`. It
 * is scanned once when it is opened, unless its index file exists. Lines are
 * read and parsed again on access. Not thread-safe. */
typedef struct _SpdlList SpdlList;

gboolean spdl_list_is_list (const gchar *location);

/* Returns TRUE if items of this list have named fields. */
gboolean spdl_list_has_columns (const gchar *location);

/* Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlList *spdl_list_open (
    const gchar *location, const SpdlDatasetOptions *options, GError **error);

void spdl_list_free (SpdlList *self);

guint64 spdl_list_get_size (const SpdlList *self);

/* Returns a hash of the bytes of the list and of the columns of URI and
 * label. */
guint64 spdl_list_get_hash (const SpdlList *self);

/* Returns the classes of the labels: those set by the caller, or the text
 * labels of the list. NULL if labels are integers. */
const SpdlClasses *spdl_list_get_classes (const SpdlList *self);

/* Returns the names of the categories of COCO annotations (nullable). */
const SpdlClasses *spdl_list_get_categories (const SpdlList *self);

/* Returns the weights of the items as double (transfer full) at the first call;
 * NULL if the list has no weights. */
GArray *spdl_list_steal_weights (SpdlList *self);

/* Returns the path or URI of item @i (transfer full), and sets its label
 * (SPDL_NO_LABEL: none) and its other fields @extra (nullable, transfer full).
 * Returns NULL with @error set if the list has changed since it was opened. */
gchar *spdl_list_get_item (SpdlList *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error);

G_END_DECLS
