/* gst-spdl: a pass over a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SCAN_H__
#define __SPDL_SCAN_H__

#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/listindex.h"
#include "plugins/dataset/list/mappedfile.h"

G_BEGIN_DECLS

typedef struct {
  SpdlText *text;
  const SpdlColumns *columns; /* of a `.csv`; NULL: a `.txt` */
  const gchar *first;         /* the first record, behind the header */
  SpdlIndex *index;           /* gets all items */
  GArray *weights;            /* double, (nullable): gets theirs */
  gboolean labels;            /* are wanted */
  const SpdlClasses *classes; /* (nullable): which they must be; NULL: the index
                               * gets the classes that they make, if any */
  guint64 hash;               /* gets that of all of the text */
} SpdlScan;

/* Looks at all of a list, once, from the beginning to the end. Returns FALSE
 * with @error set, in the domain of GST_RESOURCE_ERROR, if a line is malformed,
 * or if the list changes meanwhile. */
gboolean spdl_scan (SpdlScan *self, GError **error);

G_END_DECLS

#endif /* __SPDL_SCAN_H__ */
