/* gst-spdl: Arrow tables as lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "gst/spdl/arrow/arrowreader.h"
#include "gst/spdl/common/carried.h"
#include "plugins/dataset/arrow/arrowparts.h"
#include "plugins/dataset/list/datasetoptions.h"

G_BEGIN_DECLS

/* Rows of an Arrow table or stream, which stay where their producer has them.
 * The first column of bytes is the item, or else the column `uri`. `label` is
 * the label. Further columns are fields of the item's `extra`. Not thread-safe.
 */
typedef struct _SpdlArrowTable SpdlArrowTable;

/* Moves the streams.
 *
 * @order: (nullable): rows to use, in their order: a stream of one column of
 *     integers
 * @name: name of the table in messages */
SpdlArrowTable *spdl_arrow_table_new (struct ArrowArrayStream *rows,
    struct ArrowArrayStream *order, const gchar *name);

/* Creates a table whose rows are read once in each epoch, in their order, or
 * whose parts are read when they are needed. Takes ownership of @opener. */
SpdlArrowTable *
spdl_arrow_table_new_lazy (SpdlArrowOpener *opener, const gchar *name);

void spdl_arrow_table_free (SpdlArrowTable *self);

gboolean spdl_arrow_table_is_streamed (const SpdlArrowTable *self);

/* Returns the parts, NULL if the table is not read in parts. */
const GstSpdlArrowPart *
spdl_arrow_table_get_parts (const SpdlArrowTable *self, guint *n_parts);

/* Drops the parts that are in memory, until the table is opened again. */
void spdl_arrow_table_close (SpdlArrowTable *self);

/* See spdl_arrow_parts_plan(). Only for a table in parts. */
void spdl_arrow_table_plan (SpdlArrowTable *self, const SpdlReadPlan *plan);

/* Makes the next item that is read one of a new stream. Does nothing for a
 * table that is not streamed. */
void spdl_arrow_table_begin_epoch (SpdlArrowTable *self);

const gchar *spdl_arrow_table_get_name (const SpdlArrowTable *self);

/* Reads the streams at the first call, and checks all rows. May be called again
 * with other options. If the table is streamed or in parts, only its columns
 * are read.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR or
 * G_IO_ERROR (cancelled). */
gboolean spdl_arrow_table_open (
    SpdlArrowTable *self, const SpdlDatasetOptions *options, GError **error);

/* Returns the number of rows; the largest possible one if the table is
 * streamed. */
guint64 spdl_arrow_table_get_size (const SpdlArrowTable *self);

/* Returns a hash of the rows: the lengths of the items, the labels, and the
 * content of some items. If the table is streamed, a hash of its columns, and
 * if it is in parts, also of their sizes. */
guint64 spdl_arrow_table_get_hash (const SpdlArrowTable *self);

/* Returns the classes of the labels like spdl_list_get_classes(). */
const SpdlClasses *spdl_arrow_table_get_classes (const SpdlArrowTable *self);

/* Returns the weights like spdl_list_steal_weights(). */
GArray *spdl_arrow_table_steal_weights (SpdlArrowTable *self);

/* Returns the URI of row @i (transfer full), and sets its label (SPDL_NO_LABEL:
 * none), its other fields and the content of its URIs (nullable, transfer
 * full). A row that is null has a URI without content, and a row of a part that
 * cannot be read an error in place of its content. If the table is streamed, @i
 * must grow.
 *
 * @cancellable: (nullable): ends the wait for a row
 *
 * Returns NULL after the last row of a streamed table, or with @error set if it
 * cannot be read. */
gchar *spdl_arrow_table_get_item (SpdlArrowTable *self, guint64 i,
    gint64 *label, GstStructure **extra, GstSpdlCarried **carried,
    GCancellable *cancellable, GError **error);

G_END_DECLS
