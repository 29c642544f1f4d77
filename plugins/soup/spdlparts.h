/* gst-spdl: items whose fields name other media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PARTS_H__
#define __SPDL_PARTS_H__

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* An item's URI and some fields of its `extra` are fetched together, and become
 * one sample of several media. */

/* Is told of the end of one fetch, once, on any thread. Ownership is as with
 * SpdlHttpFunc. */
typedef void (*SpdlPartFunc) (
    gpointer user_data, GstBuffer *content, GError *error);

/* Begins to fetch what @uri names, whose end @func tells, during this call or
 * after it. @uri may be changed. */
typedef void (*SpdlPartsFetch) (
    GstSpdlTask *task, gchar *uri, SpdlPartFunc func, gpointer user_data);

/* Ends @task: with @sample (transfer full), or with @error (transfer full). */
typedef void (*SpdlPartsDone) (
    GstSpdlTask *task, GstBuffer *sample, GError *error);

typedef struct {
  SpdlPartsFetch fetch;
  SpdlPartsDone done;
} SpdlPartsFuncs;

/* The names of "mask,caption".
 *
 * Returns: (transfer full): NULL with @error set if these cannot be names */
GStrv spdl_parts_parse (const gchar *text, GError **error);

/* Begins the fetch of @uri and of what the fields @names of the item's `extra`
 * name, which must stay until its end. Paths are relative to @base (nullable).
 * @caps: (nullable): what @uri names */
void spdl_parts_begin (GstSpdlTask *task, const gchar *uri, GStrv names,
    const gchar *base, GstCaps *caps, const SpdlPartsFuncs *funcs);

G_END_DECLS

#endif /* __SPDL_PARTS_H__ */
