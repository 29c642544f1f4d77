/* gst-spdl: settings of a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "plugins/dataset/list/classes.h"

G_BEGIN_DECLS

typedef struct _SpdlArrowTable SpdlArrowTable;         /* in arrowtable.h */
typedef struct _SpdlRemoteSettings SpdlRemoteSettings; /* in indexer.h */

typedef enum {
  SPDL_LABEL_AUTO,     /* as manifest, if there are any */
  SPDL_LABEL_NONE,     /* -1 */
  SPDL_LABEL_FOLDER,   /* number of the top-level folder */
  SPDL_LABEL_MANIFEST, /* label in the list, the shard or the table */
} SpdlLabel;

/* Use of an index in a file, see sidecar.h. */
typedef enum {
  SPDL_SIDECAR_NONE,
  SPDL_SIDECAR_AUTO, /* of lists and shards that take long to index */
  SPDL_SIDECAR_ALWAYS,
} SpdlSidecarUse;

/* Each kind of location uses some of them. */
typedef struct {
  SpdlLabelOptions labels;
  const gchar *weights; /* (nullable): column with the weights */
  SpdlSidecarUse sidecar;
  const gchar *uri; /* (nullable): column with the items; NULL: "uri", or that
                       of bytes in a table */
  /* (nullable): called with a sentence about what was lost, and what to do;
   * also when items are read */
  void (*warn) (const gchar *text, gpointer user_data);
  gpointer user_data;
  const gchar *location;
  SpdlArrowTable *table; /* (nullable): instead of the location; not owned */
  const gchar *root; /* (nullable): base of relative paths; NULL: the folder of
                        the list */
  gboolean require_annotations; /* leave out images without any, see coco.h */
  const gchar *pattern;         /* glob for the names of files in a folder */
  SpdlLabel label;
  const gchar *extensions; /* (nullable): which files of shards are payloads */
  const SpdlRemoteSettings *remote; /* settings of HTTP requests for shards */
  GCancellable *cancellable;        /* (nullable): ends the wait for a table */
} SpdlDatasetOptions;

/* Tells the user what was lost, and what to do. */
void spdl_dataset_warn (const SpdlDatasetOptions *options, const gchar *format,
    ...) G_GNUC_PRINTF (2, 3);

/* Warns of items without a label, or fails if the settings say so or none has
 * one although labels were asked for.
 *
 * @location: name of the dataset
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR. */
gboolean spdl_labels_check (const SpdlDatasetOptions *options,
    const SpdlLabelCount *count, const gchar *location, GError **error);

/* Returns the names of fields, for a message about a label that is none of them
 * (transfer full).
 *
 * @fields: nullable */
gchar *spdl_labels_describe_fields (const GstStructure *fields);

G_END_DECLS
