/* gst-spdl-launch: JSON output of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Writes all statistics of a run.
 * @file: path, or "-" for stdout */
gboolean json_write (
    Session *session, const gchar *file, const GError *failure, GError **error);

/* Adds members to an object.
 * @member, ...: as for gst_structure_new(): name, type, value */
void json_add (JsonBuilder *b, const gchar *member, ...) G_GNUC_NULL_TERMINATED;

/* Adds an array of objects, to which @add adds the members of an element of
 * @all. */
void json_add_array (JsonBuilder *b, const gchar *name, GPtrArray *all,
    void (*add) (JsonBuilder *b, gconstpointer element));

/* Writes @b (transfer full), whose root is a complete object. */
gboolean json_output (JsonBuilder *b, const gchar *file, GError **error);

G_END_DECLS
