/* gst-spdl: the columns of a .csv list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/line.h"

G_BEGIN_DECLS

/* A record may hold a caption, but not a file. It bounds how far the end of a
 * quote that is never closed is looked for, too. */
#define SPDL_COLUMNS_MAX_RECORD (1 << 20)

/* What the header of a `.csv` list says, and how its records are read by it:
 * `uri` is the path or URI, `label` the label; all others are strings for the
 * item's `extra`. Immutable. */
typedef struct _SpdlColumns SpdlColumns;

/* Reads the header.
 *
 * @next: (out): the first record
 * @labels: whether labels are wanted; if not, that column is not looked at
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlColumns *spdl_columns_new (const gchar *header, const gchar *end,
    gboolean labels, const gchar *location, const gchar **next, GError **error);

void spdl_columns_free (SpdlColumns *self);

/* Column @name has weights, which are to be looked at from now on. FALSE with
 * @error set: there is no such column. */
gboolean spdl_columns_set_weights (SpdlColumns *self, const gchar *name,
    const gchar *location, GError **error);

/* Whether a field of a GstStructure may have that name: whether it survives
 * gst_structure_to_string() and back. */
gboolean spdl_columns_is_field_name (const gchar *name);

/* Parses a record, as spdl_line_parse() does a line.
 *
 * @extra: (nullable): is set to the fields of the other columns, NULL if all
 *     of them are empty */
void spdl_columns_parse (const SpdlColumns *self, const gchar *record,
    const gchar *end, SpdlLine *line, GstStructure **extra);

/* Parses what a list has at @at.
 *
 * @columns: (nullable): of a `.csv`; NULL: it is a `.txt` */
static inline void
spdl_columns_parse_any (const SpdlColumns *columns, const gchar *at,
    const gchar *end, SpdlLine *line, GstStructure **extra)
{
  if (columns)
    spdl_columns_parse (columns, at, end, line, extra);
  else
    spdl_line_parse (at, end, line);
}

G_END_DECLS
