/* gst-spdl: numbers in the lists and structures of Arrow columns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/arrow/arrowcolumn.h"

G_BEGIN_DECLS

/* Lists and structures around a number, with the table itself. */
#define SPDL_ARROW_MAX_LEVELS 8

typedef struct {
  SpdlArrowLeaf leaf;
  gint64 child; /* member of a structure; 0 for a list */
} SpdlArrowLevel;

/* The way from a table to the numbers of a column, or of a member of one. */
typedef struct {
  guint column; /* G_MAXUINT: there is none */
  guint n_lists;
  guint n_levels;
  SpdlArrowLevel levels[SPDL_ARROW_MAX_LEVELS]; /* the last one: the numbers */
} SpdlArrowLists;

/* Finds a column of numbers in lists. The name "a.b" is that of a column, or of
 * the member "b" of the structure, or of the structures in the lists, "a".
 *
 * @table: (nullable): NULL has no columns
 *
 * Returns FALSE if the column does not exist, or has another type. */
gboolean spdl_arrow_lists_find (
    SpdlArrowLists *self, const struct ArrowSchema *table, const gchar *name);

/* Returns the type of the numbers, such as "int32"; NULL if the column does not
 * have lists of numbers that may be token ids. */
const gchar *spdl_arrow_lists_get_token_type (const SpdlArrowLists *self);

/* Gets the numbers of a row's list, which is not nested, in their own type.
 *
 * @data: (out): may be NULL if @size is 0
 * @size: (out): bytes; more than 0 with the result SPDL_ARROW_NULL if not the
 *     list, but one of its numbers is null */
SpdlArrowResult spdl_arrow_lists_get_bytes (const SpdlArrowLists *self,
    const struct ArrowArray *table, guint64 row, const guint8 **data,
    gsize *size);

/* Gets the lists of a row as arrays of arrays or of doubles. Lists with a null,
 * or with an integer that a double cannot represent, are null.
 *
 * @table: record batch with the columns of the schema
 * @row: of the batch
 * @value: (out): initialized if the result is SPDL_ARROW_VALUE */
SpdlArrowResult spdl_arrow_lists_get (const SpdlArrowLists *self,
    const struct ArrowArray *table, guint64 row, GValue *value);

G_END_DECLS
