/* gst-spdl: rows of an Arrow stream, by number
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "gst/spdl/arrow/arrowreader.h"
#include "plugins/dataset/arrow/arrowcolumn.h"

G_BEGIN_DECLS

typedef struct {
  gchar *name;
  gchar *format; /* as in Arrow's schema, `+l<item:f>` */
  SpdlArrowType type;
} SpdlArrowColumn;

/* Record batches of a stream: all, or the last one that was read. Not
 * thread-safe. */
typedef struct {
  gchar *name; /* of the table, for messages */
  SpdlArrowReader *reader;
  GArray *columns; /* (nullable): SpdlArrowColumn; NULL: no schema was read */
  GArray *parts;   /* Part: rows of each batch */
  guint64 first;   /* number of the first row in messages */
  guint64 n_rows;
  gboolean is_loaded;
  GError *broken; /* (nullable): of a batch */
  guint last;     /* part of the last row */
} SpdlArrowRows;

/* Takes ownership of @reader. */
void spdl_arrow_rows_init (
    SpdlArrowRows *self, SpdlArrowReader *reader, const gchar *name);
void spdl_arrow_rows_clear (SpdlArrowRows *self);

/* Reads the names and types of the columns. */
gboolean spdl_arrow_rows_load_columns (
    SpdlArrowRows *self, GCancellable *cancellable, GError **error);

/* Returns a hash of the names and types of the columns. */
guint64 spdl_arrow_rows_hash_columns (const SpdlArrowRows *self);

/* Reads up to the batch with @row, and drops the batches before it. Rows must
 * be read in their order.
 *
 * Returns FALSE if there is no such row, or with @error set like
 * spdl_arrow_rows_load(). */
gboolean spdl_arrow_rows_advance (SpdlArrowRows *self, guint64 row,
    GCancellable *cancellable, GError **error);

/* Reads all batches, unless they are loaded. May be repeated after it was
 * cancelled. Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR
 * or G_IO_ERROR (cancelled). */
gboolean spdl_arrow_rows_load (
    SpdlArrowRows *self, GCancellable *cancellable, GError **error);

static inline const SpdlArrowColumn *
spdl_arrow_rows_get_column (const SpdlArrowRows *self, guint column)
{
  return &g_array_index (self->columns, SpdlArrowColumn, column);
}

/* Finds a row.
 *
 * @row: (inout): less than n_rows; becomes the row in its batch
 * @batch: (out) (optional)
 *
 * Returns the views of the columns in its batch: those of column i at 2 i, and
 * of its paths at 2 i + 1. */
const SpdlArrowView *spdl_arrow_rows_find (
    SpdlArrowRows *self, guint64 *row, SpdlArrowBatch **batch);

/* Sets an error that names the table, a column and a row. */
void spdl_arrow_rows_set_error (const SpdlArrowRows *self, guint column,
    guint64 row, GError **error, const gchar *format, ...) G_GNUC_PRINTF (5, 6);

G_END_DECLS
