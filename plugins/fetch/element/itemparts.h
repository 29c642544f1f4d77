/* gst-spdl: items with parts in other files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* An item's URI and some fields of its `extra` are fetched together, and become
 * one sample of several media. */

/* Is told of the end of one fetch, once, on any thread. Ownership is as with
 * SpdlHttpFunc. */
typedef void (*SpdlPartFunc) (
    gpointer user_data, GstBuffer *content, GError *error);

/* Begins to fetch what @uri names, whose end @func tells, during this call or
 * after it. @uri may be changed. @foreign: it gets no secrets. */
typedef void (*SpdlPartsFetch) (GstSpdlTask *task, gchar *uri, gboolean foreign,
    SpdlPartFunc func, gpointer user_data);

/* Ends @task: with @sample (transfer full), or with @error (transfer full). */
typedef void (*SpdlPartsDone) (
    GstSpdlTask *task, GstBuffer *sample, GError *error);

/* How the URIs of fields are understood. */
typedef struct {
  const gchar *base;    /* what paths are relative to; nullable */
  const gchar *trusted; /* origins, see origin.h; nullable */
} SpdlPartsRules;

typedef struct {
  SpdlPartsFetch fetch;
  SpdlPartsDone done;
} SpdlPartsFuncs;

/* The names of "mask,caption".
 *
 * Returns: (transfer full): NULL with @error set if these cannot be names */
GStrv spdl_parts_parse (const gchar *text, GError **error);

/* Begins the fetch of @uri and of what the fields @names of the item's `extra`
 * name, which must stay until its end.
 *
 * The fields of an item on a server are what the server says, if no list of
 * ours has them, whose folder would be the rules' base. They may lead to
 * HTTP(S) servers, to other origins without secrets, and to no files.
 * @caps: (nullable): what @uri names */
void spdl_parts_begin (GstSpdlTask *task, const gchar *uri, GStrv names,
    const SpdlPartsRules *rules, GstCaps *caps, const SpdlPartsFuncs *funcs);

G_END_DECLS
