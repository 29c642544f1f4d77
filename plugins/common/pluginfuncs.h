/* gst-spdl: functions of another plugin, found on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A plugin of ours without an element has a table of functions as the data of
 * its object. It is loaded here, and stays loaded, as all do.
 *
 * @task: what cannot be done without it, for the error
 *
 * Returns: (nullable): the table; NULL with @error set if there is no such
 * plugin */
gconstpointer spdl_plugin_load_funcs (const gchar *plugin_name,
    const gchar *data_name, const gchar *task, GError **error);

G_END_DECLS
