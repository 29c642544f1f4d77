/* gst-spdl: initialization of GStreamer and this project's plugins
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Initializes GStreamer if necessary. If its plugin path does not contain this
 * project's plugins, they are loaded from the folder gstreamer-1.0 next to this
 * library, which is where they are installed. */
SPDL_PRIVATE_API
gboolean gst_spdl_init (GError **error);

/* Parses the options of a program and of GStreamer, and initializes GStreamer
 * like gst_spdl_init().
 *
 * @argv: (transfer none): as for g_option_context_parse() */
SPDL_PRIVATE_API
gboolean gst_spdl_init_with_options (
    GOptionContext *context, int *argc, char ***argv, GError **error);

G_END_DECLS
