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

/* The names of the classes of a dataset, each with its number. They are either
 * given by the user, in the user's order, or collected from the dataset and
 * sorted by their bytes, so that all ranks number them equally. Names are UTF-8
 * and not empty; no two are the same. */
typedef struct _SpdlClasses SpdlClasses;

/* Bounds on what is collected: a column of captions makes no classes. The size
 * counts each name with its terminating 0. */
#define SPDL_CLASSES_MAX (1u << 20)
#define SPDL_CLASSES_MAX_SIZE (1u << 26)

SpdlClasses *spdl_classes_new (void);

/* Takes the user's names, in their order.
 *
 * @names: (nullable): terminated by NULL
 *
 * Returns NULL without @error if there are no names, and NULL with @error set,
 * in the domain of GST_RESOURCE_ERROR, if they cannot be the names of classes.
 */
SpdlClasses *
spdl_classes_new_from_names (const gchar *const *names, GError **error);

void spdl_classes_free (SpdlClasses *self);

/* Adds a name, unless it is there. FALSE: there are too many. */
gboolean spdl_classes_add (SpdlClasses *self, const gchar *name, gsize length);

/* Numbers the names anew, in the order of their bytes. */
void spdl_classes_sort (SpdlClasses *self);

guint spdl_classes_get_size (const SpdlClasses *self);

/* Terminated by NULL; valid until a name is added. */
const gchar *const *spdl_classes_get_names (const SpdlClasses *self);

/* Identifies the names and their order; never 0. @self: (nullable): 0 */
guint64 spdl_classes_get_hash (const SpdlClasses *self);

/* Returns the number of a name, -1 if it is none of them. */
gint64
spdl_classes_find (const SpdlClasses *self, const gchar *name, gsize length);

/* Numbers the label of an item. A name comes first; an integer from 0 to n - 1
 * numbers its class itself, unless a name is an integer, too. -1 remains none.
 *
 * @text: (nullable): the label as it is written, without blanks around it; NULL
 *     if only its value is known
 * @is_integer: whether @value has what the text says
 * @number: (out): of the class, -1: none
 *
 * Returns FALSE if the label fits none of the classes. */
gboolean spdl_classes_number (const SpdlClasses *self, const gchar *text,
    gsize length, gboolean is_integer, gint64 value, gint64 *number);

/* Reads and numbers the label of a line of a list: line->label becomes the
 * class's number.
 *
 * @self: (nullable): NULL: labels are integers, which stay as they are
 *
 * Returns FALSE if the label fits none of the classes. */
gboolean spdl_classes_number_line (const SpdlClasses *self, SpdlLine *line);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlClasses, spdl_classes_free)

G_END_DECLS
