/* gst-spdl: pipeline descriptions, with errors that suggest a correction
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* As gst_parse_launch_full() with %GST_PARSE_FLAG_FATAL_ERRORS. The error's
 * message also says what to write instead. Numbers out of a property's range
 * and elements without a "!" between them are errors, too.
 *
 * Returns: (transfer floating): NULL with @error set, of %GST_PARSE_ERROR */
SPDL_PRIVATE_API
GstElement *gst_spdl_parse_launch (const gchar *description, GError **error);

/* The same of a command line's arguments. */
SPDL_PRIVATE_API
GstElement *gst_spdl_parse_launchv (gchar **arguments, GError **error);

/* Finds mistakes for which GStreamer's parser sets no error.
 *
 * Returns: FALSE with @error set, of %GST_PARSE_ERROR */
SPDL_PRIVATE_API
gboolean gst_spdl_parse_check (const gchar *description, GError **error);

/* Adds to @error's message what to write instead. GStreamer's parser has set
 * @error for @description. Domain and code stay. */
SPDL_PRIVATE_API
void gst_spdl_parse_explain (const gchar *description, GError *error);

/* Finds a missing "!" between two elements that were added to @bin one after
 * the other.
 *
 * Returns: FALSE with @error set, of %GST_PARSE_ERROR_LINK */
SPDL_PRIVATE_API
gboolean gst_spdl_parse_check_links (GstBin *bin, GError **error);

G_END_DECLS
