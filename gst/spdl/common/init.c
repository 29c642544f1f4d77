/* gst-spdl: initialization of GStreamer and this project's plugins
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/init.h"

#include <dlfcn.h>
#include <gio/gio.h>

/* TRUE in the library of a wheel, which includes GStreamer. */
#ifdef SPDL_BUNDLE
static const gboolean bundled = TRUE;
#else
static const gboolean bundled = FALSE;
#endif

/* Returns: (transfer full) (nullable): the folder of this library */
static gchar *
find_folder (void)
{
  Dl_info info;

  if (!dladdr (find_folder, &info) || !info.dli_fname)
    return NULL;
  return g_path_get_dirname (info.dli_fname);
}

/* Environment of a bundled GStreamer */

/* GStreamer and GLib in a wheel were built with the paths of another system.
 * Environment variables redirect them, but only while GStreamer and GIO are
 * initialized, so that child processes do not see them. */
static const gchar *const variables[] = { "GST_PLUGIN_PATH",
  "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH", "GST_PLUGIN_SYSTEM_PATH_1_0",
  "GST_PLUGIN_SCANNER", "GST_PLUGIN_SCANNER_1_0", "GST_REGISTRY",
  "GST_REGISTRY_1_0", "GIO_MODULE_DIR", "GIO_EXTRA_MODULES" };

typedef struct {
  gchar *values[G_N_ELEMENTS (variables)];
} Environment;

/* Returns the path of a registry for this location of the package, because the
 * registry contains the paths of the plugins. */
static gchar *
make_registry_path (const gchar *folder)
{
  g_autofree gchar *digest =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, folder, -1);
  g_autofree gchar *name = g_strdup_printf ("registry-%.16s.bin", digest);

  return g_build_filename (g_get_user_cache_dir (), "gst-spdl", name, NULL);
}

static void
set_path (const gchar *variable, const gchar *folder, const gchar *name)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);

  g_setenv (variable, path, TRUE);
}

static void
set_environment (Environment *saved)
{
  g_autofree gchar *folder = bundled ? find_folder () : NULL;
  g_autofree gchar *registry = NULL;

  if (!bundled)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    saved->values[i] = g_strdup (g_getenv (variables[i]));
  if (g_getenv ("GST_PLUGIN_PATH") || g_getenv ("GST_PLUGIN_PATH_1_0"))
    g_printerr (
        "gst-spdl: GST_PLUGIN_PATH is ignored, because its plugins are built "
        "for another GStreamer than this package's own; to use them, install "
        "gst-spdl for the system's GStreamer\n");
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    g_unsetenv (variables[i]);
  if (!folder)
    return;
  registry = make_registry_path (folder);
  g_setenv ("GST_REGISTRY_1_0", registry, TRUE);
  set_path ("GST_PLUGIN_SYSTEM_PATH_1_0", folder, "gstreamer-1.0");
  set_path ("GST_PLUGIN_SCANNER_1_0", folder, "bin/gst-plugin-scanner");
  set_path ("GIO_MODULE_DIR", folder, "gio-modules");
}

static void
restore_environment (Environment *saved)
{
  if (!bundled)
    return;
  /* GIO loads its modules on first use. */
  g_vfs_get_default ();
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++) {
    if (saved->values[i])
      g_setenv (variables[i], saved->values[i], TRUE);
    else
      g_unsetenv (variables[i]);
    g_free (saved->values[i]);
  }
}

/* Plugins of this project */

/* The modules for HTTP and audio are loaded on demand, because they need tens
 * of MB. */
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
load_plugins (const gchar *folder)
{
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

static void
find_elements (void)
{
  g_autofree gchar *folder = has_elements () ? NULL : find_folder ();

  if (folder)
    load_plugins (folder);
}

static gboolean
init_gstreamer (GError **error)
{
  Environment saved;
  gboolean ok;

  set_environment (&saved);
  ok = gst_init_check (NULL, NULL, error);
  restore_environment (&saved);
  return ok;
}

gboolean
gst_spdl_init (GError **error)
{
  static GMutex lock;
  static gboolean done; /* guarded by the lock */
  gboolean ok;

  g_mutex_lock (&lock);
  ok = done || gst_is_initialized () || init_gstreamer (error);
  if (ok && !done) {
    find_elements ();
    done = TRUE;
  }
  g_mutex_unlock (&lock);
  return ok;
}

gboolean
gst_spdl_init_with_options (
    GOptionContext *context, int *argc, char ***argv, GError **error)
{
  Environment saved;
  gboolean ok;

  g_option_context_add_group (context, gst_init_get_option_group ());
  set_environment (&saved);
  ok = g_option_context_parse (context, argc, argv, error);
  restore_environment (&saved);
  return ok && gst_spdl_init (error);
}
