/* gst-spdl: settings of labels, and the check for missing ones
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/classes.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_LABEL_MISSING_WARN,
  SPDL_LABEL_MISSING_FAIL,
  SPDL_LABEL_MISSING_KEEP,
} SpdlLabelMissing;

typedef struct {
  gboolean read;   /* whether labels are read */
  gboolean wanted; /* the user asked for labels, so there must be some */
  SpdlLabelMissing missing;   /* what an item without a label means */
  const gchar *column;        /* (nullable): NULL: "label"; "": none */
  const gchar *targets;       /* (nullable): columns that are not labels */
  const SpdlClasses *classes; /* (nullable): allowed labels; not owned */
} SpdlLabelOptions;

/* Receives a sentence about what was lost, and what to do. */
typedef void (*SpdlWarnFunc) (const gchar *text, gpointer user_data);

typedef struct {
  const gchar *name; /* (nullable): of the label; NULL: the column */
  guint64 n_items;
  guint64 n_missing;
  const gchar *first;  /* (nullable): the first item without a label */
  const gchar *fields; /* (nullable): what the items have, such as `columns
                          "uri", "target"` */
} SpdlLabelCount;

/* Targets: numbers of an item that become tensors of the batch. */

/* Returns TRUE if @targets (nullable), such as "a,b", has @name. */
gboolean spdl_targets_has (const gchar *targets, const gchar *name);

/* Checks that all targets are among the names.
 *
 * @has: returns whether @user_data has a column of numbers
 * @fields: what exists, as in SpdlLabelCount */
gboolean spdl_targets_check (const gchar *targets,
    gboolean (*has) (const gchar *name, gconstpointer user_data),
    gconstpointer user_data, const gchar *fields, const gchar *location,
    GError **error);

static inline const gchar *
spdl_labels_get_column (const SpdlLabelOptions *self)
{
  return self->column ? self->column : "label";
}

/* Warns of items without a label, or fails if the settings say so or none has
 * one although labels were asked for.
 *
 * @location: name of the dataset
 * @warn: (nullable)
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR. */
gboolean spdl_labels_check (const SpdlLabelOptions *self,
    const SpdlLabelCount *count, const gchar *location, SpdlWarnFunc warn,
    gpointer user_data, GError **error);

G_END_DECLS
