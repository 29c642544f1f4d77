/* gst-spdl: private parts of Arrow tables
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/arrow/arrowrows.h"
#include "plugins/dataset/arrow/arrowtable.h"

G_BEGIN_DECLS

#define NO_COLUMN G_MAXUINT

/* A column that is a field of the item's extra. */
typedef struct {
  guint column;
  gchar *prefix; /* (nullable): URIs of files: this and the row */
} Extra;

struct _SpdlArrowTable {
  SpdlArrowOpener *opener; /* (nullable): of the stream or the parts */
  gboolean was_read;       /* a row of the stream was requested */
  gboolean in_parts;
  SpdlArrowParts *parts; /* (nullable): set while the table is open */
  SpdlArrowRows *at;     /* with the current row: `rows`, or those of a part */
  SpdlArrowRows rows;    /* without any if the table is in parts */
  SpdlArrowRows order;
  gboolean has_order;
  guint item;
  guint label;      /* NO_COLUMN: none */
  guint weight;     /* NO_COLUMN: none */
  gboolean labels;  /* whether labels are read */
  gchar *prefix;    /* of the URIs of items */
  gboolean has_key; /* a column is named `key` */
  GArray *extras;   /* Extra */
  guint64 n_items;
  guint64 hash;
  GArray *weights;      /* (nullable): double */
  guint64 n_unlabelled; /* items that were checked and have no label */
  guint64 first_unlabelled;
  const SpdlClasses *classes; /* (nullable): set by the caller */
  SpdlClasses *found;         /* (nullable): classes of text labels */
  gboolean has_numbers;       /* whether text labels are numbers */
  SpdlWarnFunc warn;          /* (nullable) */
  gpointer warn_data;
  gboolean told_text; /* warned of a text that is not UTF-8 */
};

static inline const SpdlArrowColumn *
get_column (const SpdlArrowTable *self, guint i)
{
  return spdl_arrow_rows_get_column (&self->rows, i);
}

/* Returns the views of item @i in its batch, and sets its row there. */
const SpdlArrowView *spdl_arrow_table_find_views (
    SpdlArrowTable *self, guint64 i, guint64 *row, SpdlArrowBatch **batch);

/* Gets the label of a column of numbers. A real number that is not an integer
 * is broken, and NaN is null. */
SpdlArrowResult spdl_arrow_item_get_number (
    const SpdlArrowView *view, guint64 row, gint64 *label);

/* Gets the label of a column of text, as the label of a line that is not parsed
 * yet. An empty text is null. */
SpdlArrowResult spdl_arrow_item_get_text (
    const SpdlArrowView *view, guint64 row, SpdlLine *line);

/* Returns the URI of an item without a path (transfer full). */
gchar *spdl_arrow_item_make_uri (const SpdlArrowTable *self, guint64 i);

/* Reads item @i like spdl_arrow_table_get_item(). Its row has been read and
 * checked. */
gchar *spdl_arrow_item_read (SpdlArrowTable *self, guint64 i, gint64 *label,
    GstStructure **extra, GstSpdlCarried **carried);

G_END_DECLS
