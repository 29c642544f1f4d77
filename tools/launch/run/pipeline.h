/* gst-spdl-launch: makes a pipeline of a description
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* (transfer full): of what gst-launch takes as its arguments. Where it ends in
 * an open pad, an spdlsink is put behind that. */
GstElement *pipeline_new (gchar **description, GError **error);

/* (transfer full): the same as one text, for people: without secrets. */
gchar *pipeline_describe (gchar **description);

/* Puts an spdlcache before the pipeline's spdlsink, which keeps batches up to
 * number @n_batches and hands them out from then on. */
gboolean
pipeline_insert_cache (GstElement *pipeline, guint n_batches, GError **error);

/* @sink: (out) (transfer full) (nullable): its spdlsink. Of two, one would
 * never be pulled from and stall the other: an error.
 * @parts: (element-type Part): the pipeline's elements */
gboolean
pipeline_find_sink (GPtrArray *parts, GstElement **sink, GError **error);

G_END_DECLS
