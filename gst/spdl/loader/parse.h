/* gst-spdl: parser of pipeline descriptions that suggests corrections
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Parses like gst_parse_launch_full() with %GST_PARSE_FLAG_FATAL_ERRORS. The
 * error's message also suggests a correction. Numbers out of a property's range
 * and elements without a "!" between them are errors, too.
 *
 * Returns: (transfer floating): NULL with @error set, of %GST_PARSE_ERROR */
SPDL_PRIVATE_API
GstElement *gst_spdl_parse_launch (const gchar *description, GError **error);

/* Parses the arguments of a command line in the same way. */
SPDL_PRIVATE_API
GstElement *gst_spdl_parse_launchv (gchar **arguments, GError **error);

/* Finds mistakes for which GStreamer's parser sets no error.
 *
 * Returns: FALSE with @error set, of %GST_PARSE_ERROR */
SPDL_PRIVATE_API
gboolean gst_spdl_parse_check (const gchar *description, GError **error);

/* Appends a suggestion to the message of @error, which GStreamer's parser has
 * set for @description. Domain and code do not change. */
SPDL_PRIVATE_API
void gst_spdl_parse_explain (const gchar *description, GError *error);

/* Finds a missing "!" between two elements that were added to @bin in
 * succession.
 *
 * Returns: FALSE with @error set, of %GST_PARSE_ERROR_LINK */
SPDL_PRIVATE_API
gboolean gst_spdl_parse_check_links (GstBin *bin, GError **error);

G_END_DECLS
