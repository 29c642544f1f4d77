/* gst-spdl: functions of another plugin, found on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/pluginfuncs.h"

#include <dlfcn.h>

/* Loads a plugin from the folder of this one. GStreamer's registry does not
 * contain this folder if pip installed the package. Returns: (transfer full)
 * (nullable) */
static GstPlugin *
load_from_own_folder (const gchar *plugin_name)
{
  Dl_info info;
  g_autofree gchar *folder = NULL;
  g_autofree gchar *name = g_strdup_printf ("libgst%s.so", plugin_name);
  g_autofree gchar *path = NULL;
  g_autoptr (GError) error = NULL;
  GstPlugin *plugin;

  if (!dladdr (load_from_own_folder, &info) || !info.dli_fname)
    return NULL;
  folder = g_path_get_dirname (info.dli_fname);
  path = g_build_filename (folder, name, NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  plugin = gst_plugin_load_file (path, &error);
  if (!plugin)
    GST_WARNING ("%s cannot be loaded: %s", path, error->message);
  return plugin;
}

gconstpointer
spdl_plugin_load_funcs (const gchar *plugin_name, const gchar *data_name,
    const gchar *task, GError **error)
{
  GstPlugin *plugin = gst_plugin_load_by_name (plugin_name);
  gconstpointer funcs;

  if (!plugin)
    plugin = load_from_own_folder (plugin_name);
  funcs = plugin ? g_object_get_data (G_OBJECT (plugin), data_name) : NULL;
  if (!funcs)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The plugin %s of gst-spdl is missing, which %s", plugin_name, task);
  gst_clear_object (&plugin);
  return funcs;
}
