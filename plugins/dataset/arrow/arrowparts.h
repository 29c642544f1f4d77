/* gst-spdl: parts of an Arrow table that are read when they are needed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/arrow/arrowrows.h"

G_BEGIN_DECLS

/* Rows of a table in parts, of which those of a plan are in memory. Each part
 * has a reader, so that several are read at the same time. Not thread-safe. */
typedef struct _SpdlArrowParts SpdlArrowParts;

typedef struct {
  const guint32 *parts; /* in the order in which they are needed */
  guint n_needed;       /* the first of them, which are needed now */
  guint n_parts;
  guint max_ahead;         /* number of further parts that may be read */
  guint64 max_ahead_bytes; /* and their size, if it is more than one */
} SpdlReadPlan;

/* @opener: of the parts; not owned
 * @columns: (transfer full): columns to read
 * @rows: with these columns, and the name of the table */
SpdlArrowParts *spdl_arrow_parts_new (
    SpdlArrowOpener *opener, GStrv columns, const SpdlArrowRows *rows);

void spdl_arrow_parts_free (SpdlArrowParts *self);

/* Drops all parts that are not in the plan, and begins to read those in it. */
void spdl_arrow_parts_plan (SpdlArrowParts *self, const SpdlReadPlan *plan);

/* Finds the part with a row of the table, and waits until it is read. The
 * part's first row is `first` of the result.
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR or
 * G_IO_ERROR (cancelled). A failed part always fails in the same way while it
 * is in the plan. */
SpdlArrowRows *spdl_arrow_parts_find (SpdlArrowParts *self, guint64 row,
    GCancellable *cancellable, GError **error);

G_END_DECLS
