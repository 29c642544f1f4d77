/* gst-spdl: item of a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/common/carried.h"

G_BEGIN_DECLS

/* The fields are (transfer full). */
typedef struct {
  guint64 sequence; /* position among the items that are sent of the epoch */
  guint64 index;    /* position in the dataset */
  gchar *uri;
  gint64 label;            /* SPDL_NO_LABEL: none */
  GstStructure *extra;     /* nullable */
  GstSpdlCarried *carried; /* nullable: contents of files that its URIs name */
} SpdlDatasetItem;

static inline void
spdl_dataset_item_clear (SpdlDatasetItem *self)
{
  g_clear_pointer (&self->uri, g_free);
  g_clear_pointer (&self->extra, gst_structure_free);
  g_clear_pointer (&self->carried, gst_spdl_carried_unref);
}

typedef enum {
  SPDL_DATASET_ITEM,
  SPDL_DATASET_END,      /* of the epoch, or of the shard */
  SPDL_DATASET_FAILED,   /* with an error: nothing more can be read */
  SPDL_DATASET_FLUSHING, /* waiting was interrupted */
} SpdlDatasetStatus;

G_END_DECLS
