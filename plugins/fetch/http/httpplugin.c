/* gst-spdl: HTTP plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/http.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

static const SpdlHttpFuncs funcs = { spdl_http_new, spdl_http_free,
  spdl_http_fetch, spdl_http_get_cpu_time, spdl_http_settings_list };

/* Registers no element; spdlfetch loads the plugin when needed. */
static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  g_object_set_data (G_OBJECT (plugin), SPDL_HTTP_DATA, (gpointer) &funcs);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlhttp,
    "Data loading for machine learning: HTTP, for spdlfetch", plugin_init,
    PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
