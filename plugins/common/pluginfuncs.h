/* gst-spdl: functions of another plugin, found on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Loads the function table of a plugin that has no element, and keeps the
 * plugin loaded.
 *
 * @task: what needs the plugin, for the error
 *
 * Returns: (nullable): the table; NULL with @error set if the plugin is missing
 */
gconstpointer spdl_plugin_load_funcs (const gchar *plugin_name,
    const gchar *data_name, const gchar *task, GError **error);

G_END_DECLS
