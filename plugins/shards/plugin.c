/* gst-spdl: plugin that indexes and streams shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>

#include "plugins/dataset/archive/indexer.h"

/* The plugin has no element. spdlsrc loads it on demand. */
static gboolean
plugin_init (GstPlugin *plugin)
{
  g_object_set_data (
      G_OBJECT (plugin), SPDL_INDEXER_DATA, (gpointer) &spdl_shards_funcs);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlshards,
    "Data loading for machine learning: shards, for spdlsrc", plugin_init,
    PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
