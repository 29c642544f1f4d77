/* gst-spdl: functions of another plugin, found on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/pluginfuncs.h"

gconstpointer
spdl_plugin_load_funcs (const gchar *plugin_name, const gchar *data_name,
    const gchar *task, GError **error)
{
  GstPlugin *plugin = gst_plugin_load_by_name (plugin_name);
  gconstpointer funcs =
      plugin ? g_object_get_data (G_OBJECT (plugin), data_name) : NULL;

  if (!funcs)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The plugin %s of gst-spdl is missing, which %s", plugin_name, task);
  gst_clear_object (&plugin);
  return funcs;
}
