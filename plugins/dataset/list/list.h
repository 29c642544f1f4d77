/* gst-spdl: lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* A `.txt` or a `.csv` list of any size, mapped into memory. It is scanned
 * once, when it is opened, if there is no file yet that has its index; a line
 * is parsed again when it is asked for. For one thread at a time. */
typedef struct _SpdlList SpdlList;

typedef struct {
  gboolean labels;      /* are wanted; if not, they are not looked at */
  const gchar *weights; /* (nullable): the column that has them */
  SpdlSidecarUse sidecar;
  const SpdlClasses *classes; /* (nullable): which labels may be; outlives the
                               * list */
} SpdlListOptions;

gboolean spdl_list_is_list (const gchar *location);

/* Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlList *spdl_list_open (
    const gchar *location, const SpdlListOptions *options, GError **error);

void spdl_list_free (SpdlList *self);

guint64 spdl_list_get_size (const SpdlList *self);

/* Of the list's bytes. */
guint64 spdl_list_get_hash (const SpdlList *self);

/* What numbers the labels: the classes that were given, or those that the
 * list's text labels make; (nullable): labels are integers. */
const SpdlClasses *spdl_list_get_classes (const SpdlList *self);

/* The items' weights, double (transfer full), once; NULL if none are wanted. */
GArray *spdl_list_steal_weights (SpdlList *self);

/* The path or URI (transfer full) of item @i, its label (-1: none) and its
 * other fields (nullable, transfer full).
 *
 * Returns NULL with @error set if the list has changed since it was opened. */
gchar *spdl_list_get_item (SpdlList *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error);

G_END_DECLS
