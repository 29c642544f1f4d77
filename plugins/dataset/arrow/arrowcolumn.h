/* gst-spdl: layouts of Arrow columns
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

#include "gst/spdl/arrow/arrowabi.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_ARROW_OTHER,   /* cannot be read */
  SPDL_ARROW_NOTHING, /* only nulls */
  SPDL_ARROW_BINARY,
  SPDL_ARROW_TEXT,
  SPDL_ARROW_INTEGER,
  SPDL_ARROW_REAL,
  SPDL_ARROW_BOOLEAN,
  SPDL_ARROW_FILE, /* structure of the fields `bytes` and `path` */
  SPDL_ARROW_LIST, /* see arrowlists.h; columns of lists are OTHER */
} SpdlArrowKind;

/* Type of a column, or of a field of a structure. */
typedef struct {
  SpdlArrowKind kind;
  gchar layout; /* as in Arrow's formats; 'z', 'Z' and 'v' also for text; of a
                   list '+', 'M' (large) and 'F' (fixed size), and of a
                   structure '{' */
  gsize width;  /* bytes of a slot; of a list of fixed size, its length */
  /* Layout of the indices into a dictionary, and bytes of one; 0: none. */
  gchar index_layout;
  gsize index_width;
} SpdlArrowLeaf;

/* Type of a column. */
typedef struct {
  SpdlArrowKind kind;
  gint bytes; /* child with the bytes of a file; -1: the column itself */
  gint path;  /* child with the path of a file; -1: none */
  SpdlArrowLeaf bytes_leaf;
  SpdlArrowLeaf path_leaf;
} SpdlArrowType;

/* Reads the type of a column, or of a child, that has no children. */
SpdlArrowLeaf spdl_arrow_leaf_read (const struct ArrowSchema *schema);

void
spdl_arrow_type_init (SpdlArrowType *self, const struct ArrowSchema *schema);

/* Values of a column in a record batch. Refers to the batch. */
typedef struct _SpdlArrowView SpdlArrowView;
struct _SpdlArrowView {
  SpdlArrowLeaf leaf;
  guint64 offset; /* slot of row 0 */
  guint64 n_slots;
  const guint8 *validity; /* (nullable): bit per slot */
  const guint8 *outer;    /* (nullable): same of the structure around it */
  guint64 outer_offset;
  const guint8 *values;       /* slots, or the offsets of bytes */
  const guint8 *data;         /* (nullable): bytes at the offsets */
  const void *const *buffers; /* bytes of view layouts */
  const gint64 *sizes;        /* sizes of these buffers */
  guint64 n_buffers;
  SpdlArrowView *dictionary; /* (nullable) (owned) */
};

/* Finds the values of a column, and of the paths of files.
 *
 * @array: of the column
 * @offset, @length: rows of the record batch within the column
 * @path: (out): cleared if the column has no paths
 *
 * Returns a sentence about what is wrong (transfer full), NULL: nothing. Both
 * views can be cleared in any case. */
gchar *spdl_arrow_view_init (SpdlArrowView *self, SpdlArrowView *path,
    const SpdlArrowType *type, const struct ArrowArray *array, guint64 offset,
    guint64 length);

void spdl_arrow_view_clear (SpdlArrowView *self);

/* Finds the values of an array of this type. Without a dictionary, nothing must
 * be cleared.
 *
 * Returns a sentence as spdl_arrow_view_init() does. */
gchar *
spdl_arrow_view_init_leaf (SpdlArrowView *self, const SpdlArrowLeaf *leaf,
    const struct ArrowArray *array, guint64 offset, guint64 length);

typedef enum {
  SPDL_ARROW_NULL,
  SPDL_ARROW_VALUE,
  SPDL_ARROW_BROKEN, /* the value is outside of its buffer or dictionary */
} SpdlArrowResult;

/* Returns TRUE if one of the first @n_rows rows is null. */
gboolean spdl_arrow_view_has_null (const SpdlArrowView *self, guint64 n_rows);

/* Finds the elements of the first row, which is a list or a structure.
 *
 * @n_elements: number of elements of all rows */
SpdlArrowResult spdl_arrow_view_find_elements (
    const SpdlArrowView *self, gint64 n_elements, guint64 *begin, guint64 *end);

/* Gets the bytes of a binary or text value.
 *
 * @data: (out): may be NULL if @size is 0 */
SpdlArrowResult spdl_arrow_view_get_bytes (
    const SpdlArrowView *self, guint64 row, const guint8 **data, gsize *size);

/* Gets an integer or boolean. Unsigned ones above the range are broken. */
SpdlArrowResult spdl_arrow_view_get_integer (
    const SpdlArrowView *self, guint64 row, gint64 *value);

/* Gets a real number, integer or boolean. */
SpdlArrowResult spdl_arrow_view_get_real (
    const SpdlArrowView *self, guint64 row, gdouble *value);

/* Gets text, a number or a boolean.
 *
 * @value: (out): initialized if the result is SPDL_ARROW_VALUE */
SpdlArrowResult spdl_arrow_view_get_value (
    const SpdlArrowView *self, guint64 row, GValue *value);

G_END_DECLS
