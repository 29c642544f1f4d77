/* gst-spdl: walk through the values of a large JSON file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/dataset/list/jsonreader.h"
#include "plugins/dataset/list/textfile.h"

G_BEGIN_DECLS

/* Walks through a file whose only value is an object, and through the elements
 * of the arrays in it. A part of the file is in memory that is as large as the
 * largest value. Functions return FALSE with @error set, in the domain of
 * GST_RESOURCE_ERROR, if the text is not JSON. */
typedef struct {
  const SpdlTextFile *file;  /* not owned */
  GCancellable *cancellable; /* (nullable): not owned */
  SpdlFileWindow window;
  guint64 offset; /* of the next byte */
  gboolean begun;
} SpdlJsonWalk;

/* Valid until the next call. */
typedef struct {
  const gchar *text;
  gsize length;
  guint64 offset; /* in the file */
  SpdlJsonKind kind;
} SpdlJsonValue;

/* Maximum size of a value in bytes, apart from the arrays that are walked
 * through. */
#define SPDL_JSON_WALK_MAX ((gsize) 1 << 28)

void spdl_json_walk_init (
    SpdlJsonWalk *self, const SpdlTextFile *file, GCancellable *cancellable);
void spdl_json_walk_clear (SpdlJsonWalk *self);

/* Moves to the value of the next member of the object, and sets its name
 * (transfer full). Returns FALSE without @error at the end of the file. */
gboolean spdl_json_walk_name (SpdlJsonWalk *self, gchar **name, GError **error);

/* Reads the value. */
gboolean
spdl_json_walk_value (SpdlJsonWalk *self, SpdlJsonValue *value, GError **error);

/* Calls a function for each element, which must be an object, of the value,
 * which must be an array. */
gboolean spdl_json_walk_array (SpdlJsonWalk *self,
    gboolean (*func) (
        const SpdlJsonValue *value, gpointer user_data, GError **error),
    gpointer user_data, GError **error);

G_END_DECLS
