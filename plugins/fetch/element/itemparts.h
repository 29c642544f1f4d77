/* gst-spdl: fetching of the parts of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Fetches the URI of an item and the URIs in fields of its `extra`, and
 * combines them into a sample of several media. */

/* Called once when a part is done, on any thread. Ownership is as with
 * SpdlHttpFunc. */
typedef void (*SpdlPartFunc) (
    gpointer user_data, GstBuffer *content, GError *error);

/* Starts to fetch @uri, which may be modified. @func is called during the call
 * or later.
 * @foreign: do not send credentials and extra headers
 * @deadline: of the item; monotonic time in us */
typedef void (*SpdlPartsFetch) (GstSpdlTask *task, gchar *uri, gboolean foreign,
    gint64 deadline, SpdlPartFunc func, gpointer user_data);

/* Finishes @task with @sample or @error (both transfer full). */
typedef void (*SpdlPartsDone) (
    GstSpdlTask *task, GstBuffer *sample, GError *error);

/* Rules for the parts. */
typedef struct {
  gint64 deadline;      /* of all parts; monotonic time in us */
  const gchar *base;    /* nullable: base folder of relative paths */
  const gchar *trusted; /* nullable: trusted origins, see origin.h */
  gboolean foreign;     /* strangers may have written the fields */
} SpdlPartsRules;

typedef struct {
  SpdlPartsFetch fetch;
  SpdlPartsDone done;
} SpdlPartsFuncs;

/* Parses a comma-separated list of names.
 * Returns: (transfer full): NULL with @error set if a name is invalid */
GStrv spdl_parts_parse (const gchar *text, GError **error);

/* Starts to fetch @uri and the parts in the fields @names of the item's
 * `extra`. @names must stay valid until the end.
 *
 * Fields are foreign if the rules say so, or if the item is remote and does not
 * come from a local list, which has a base. Foreign fields may refer to the
 * item's own file or server, to relative paths below the base, and to HTTP(S)
 * servers without credentials.
 * @caps: (nullable): caps of the content of @uri */
void spdl_parts_begin (GstSpdlTask *task, const gchar *uri, GStrv names,
    const SpdlPartsRules *rules, GstCaps *caps, const SpdlPartsFuncs *funcs);

G_END_DECLS
