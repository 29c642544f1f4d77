/* gst-spdl: Arrow tables for tests, made without a library
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/arrow/arrowabi.h"

G_BEGIN_DECLS

typedef struct {
  const gchar *name;
  const gchar *format; /* "+s": a structure of `bytes` and `path` */
  const gchar *index;  /* (nullable): format of the indices of a dictionary */
  const gchar *const *values; /* as text, one per row; NULL: null */
  const gchar *const *paths;  /* of a structure; NULL: null */
} ArrowTableColumn;

/* A table, and what has been done with its streams. The fields below `damage`
 * are only read while no other thread uses a stream of the table. */
typedef struct {
  const ArrowTableColumn *columns;
  guint n_columns;
  guint n_rows;
  guint batch_rows; /* 0: one batch */
  guint offset;     /* slots before the first row in each array */
  guint fail_at;    /* number of the batch that cannot be read; 0: none */
  /* (nullable): changes a batch, or the schema */
  void (*damage) (struct ArrowArray *batch, struct ArrowSchema *schema);

  GThread *thread; /* the first thread that called a function */
  gint n_foreign;  /* atomic: calls by other threads */
  gint n_open;     /* atomic: streams, schemas and batches in use */
} ArrowTable;

void arrow_table_open (ArrowTable *self, struct ArrowArrayStream *stream);

/* Returns TRUE if @data is memory of a batch that has not been released. */
gboolean arrow_table_has (gconstpointer data);

/* Waits until all is released. */
void arrow_table_wait (ArrowTable *self);

G_END_DECLS
