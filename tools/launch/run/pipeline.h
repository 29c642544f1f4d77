/* gst-spdl-launch: creation of the pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Creates a pipeline from gst-launch arguments. If it ends in an open pad, an
 * spdlsink is added.
 * Returns: (transfer full) */
GstElement *pipeline_new (gchar **description, GError **error);

/* Returns: (transfer full): the description as one line for display, without
 * credentials */
gchar *pipeline_describe (gchar **description);

/* Inserts an spdlcache before the pipeline's spdlsink, which stores batches up
 * to number @n_batches and replays them afterwards. */
gboolean
pipeline_insert_cache (GstElement *pipeline, guint n_batches, GError **error);

/* Finds the spdlsink. Two of them are an error: one would never be pulled from
 * and would stall the other.
 * @parts: (element-type Part): elements of the pipeline
 * @sink: (out) (transfer full) (nullable) */
gboolean
pipeline_find_sink (GPtrArray *parts, GstElement **sink, GError **error);

/* Returns (transfer full) an spdlsink for the loader of a pipeline that has
 * none: nothing arrives there but the end. NULL with @error set if it cannot be
 * made. */
GstElement *pipeline_make_loader_sink (GError **error);
/* Sends the end of the stream to that sink. */
void pipeline_end_loader_sink (GstElement *sink);

/* Sets the error of a pipeline that does not start, without a message. */
void pipeline_set_not_started (GError **error);

G_END_DECLS
