/* gst-spdl: initialization of GStreamer with this project's elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/init.h"

#include <dlfcn.h>

/* Without the modules for HTTP and audio, which are loaded when they are needed
 * and take tens of MB. */
static const gchar *const plugins[] = { "libgstspdlcore.so",
  "libgstspdlfetch.so", "libgstspdlcodec.so", "libgstspdlshards.so",
  "libgstspdlipc.so", "libgstspdlcuda.so" };

static gboolean
has_elements (void)
{
  g_autoptr (GstPluginFeature) feature =
      gst_registry_lookup_feature (gst_registry_get (), "spdlsrc");

  return feature != NULL;
}

static void
load_plugins (void)
{
  g_autofree gchar *folder = NULL;
  Dl_info info;

  if (!dladdr (load_plugins, &info) || !info.dli_fname)
    return;
  folder = g_path_get_dirname (info.dli_fname);
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    g_autofree gchar *path =
        g_build_filename (folder, "gstreamer-1.0", plugins[i], NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (GstPlugin) plugin = NULL;

    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      continue;
    plugin = gst_plugin_load_file (path, &error);
    if (!plugin)
      GST_WARNING ("%s cannot be loaded: %s", path, error->message);
  }
}

gboolean
gst_spdl_init (GError **error)
{
  static gsize done = 0;

  if (!gst_is_initialized () && !gst_init_check (NULL, NULL, error))
    return FALSE;
  if (g_once_init_enter (&done)) {
    if (!has_elements ())
      load_plugins ();
    g_once_init_leave (&done, 1);
  }
  return TRUE;
}
