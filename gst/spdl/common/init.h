/* gst-spdl: initialization of GStreamer with this project's elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Initializes GStreamer unless that is done. If it does not find this project's
 * elements where it looks for plugins, they are loaded from the folder
 * gstreamer-1.0 beside this library, where an installation has them. */
SPDL_PRIVATE_API
gboolean gst_spdl_init (GError **error);

/* Parses a program's options and GStreamer's, and initializes GStreamer as
 * gst_spdl_init() does.
 *
 * @argv: (transfer none): as for g_option_context_parse() */
SPDL_PRIVATE_API
gboolean gst_spdl_init_with_options (
    GOptionContext *context, int *argc, char ***argv, GError **error);

G_END_DECLS
