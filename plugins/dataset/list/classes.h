/* gst-spdl: class names and their numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/list/line.h"

G_BEGIN_DECLS

/* Names of the classes of a dataset, each with a number. They are set by the
 * user, in the user's order, or collected from the dataset and sorted by their
 * bytes, so that all ranks number them equally. Names are UTF-8, unique and not
 * empty. */
typedef struct _SpdlClasses SpdlClasses;

/* Limits for collected names, because a column of captions does not contain
 * classes. The size includes the terminating 0 of each name. */
#define SPDL_CLASSES_MAX (1u << 20)
#define SPDL_CLASSES_MAX_SIZE (1u << 26)

SpdlClasses *spdl_classes_new (void);

/* Copies the names that the user set, in their order.
 *
 * @names: (nullable): terminated by NULL
 *
 * Returns NULL without @error if there are no names, and NULL with @error set,
 * in the domain of GST_RESOURCE_ERROR, if a name is invalid. */
SpdlClasses *
spdl_classes_new_from_names (const gchar *const *names, GError **error);

void spdl_classes_free (SpdlClasses *self);

/* Adds a name, unless it was added before. Returns FALSE if a limit is
 * exceeded. */
gboolean spdl_classes_add (SpdlClasses *self, const gchar *name, gsize length);

/* Adds a text label that was read to the classes. The first label determines
 * whether all are numbers or text, since a label of the other kind is probably
 * a mistake.
 *
 * @found: (inout) (nullable): created for the first text
 * @has_numbers: (inout) */
SpdlParseErrorKind spdl_classes_collect (
    SpdlClasses **found, gboolean *has_numbers, const SpdlLine *line);

/* Renumbers the names in the order of their bytes. */
void spdl_classes_sort (SpdlClasses *self);

guint spdl_classes_get_size (const SpdlClasses *self);

/* Returns the names, terminated by NULL; valid until a name is added. */
const gchar *const *spdl_classes_get_names (const SpdlClasses *self);

/* Returns a hash of the names and their order, which is never 0; 0 if @self is
 * NULL. */
guint64 spdl_classes_get_hash (const SpdlClasses *self);

/* Returns the number of a name, or -1 if it is unknown. */
gint64
spdl_classes_find (const SpdlClasses *self, const gchar *name, gsize length);

/* Determines the class number of an item's label. Names take precedence. An
 * integer from 0 to n - 1 is the number of a class, unless one of the names is
 * an integer. -1 remains -1.
 *
 * @text: (nullable): text of the label, without surrounding blanks; NULL if
 *     only its value is known
 * @is_integer: whether @value is valid
 * @number: (out): the number of the class
 *
 * Returns FALSE if the label belongs to no class. */
gboolean spdl_classes_number (const SpdlClasses *self, const gchar *text,
    gsize length, gboolean is_integer, gint64 value, gint64 *number);

/* Parses the label of a line of a list and replaces it with the number of its
 * class.
 *
 * @self: (nullable): NULL: labels are integers and not replaced
 *
 * Returns FALSE if the label belongs to no class. */
gboolean spdl_classes_number_line (const SpdlClasses *self, SpdlLine *line);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlClasses, spdl_classes_free)

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
  const GQuark *lists;        /* (nullable): SPDL_SHAPES_N_FIELDS names of
                                 further columns that may be lists; 0: none */
  const SpdlClasses *classes; /* (nullable): allowed labels; not owned */
} SpdlLabelOptions;

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

G_END_DECLS
