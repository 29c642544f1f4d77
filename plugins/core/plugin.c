/* gst-spdl: the core plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/core.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ret = FALSE;

  ret |= GST_ELEMENT_REGISTER (spdlaggregate, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlaugment, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlbatch, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlcache, plugin);
  ret |= GST_ELEMENT_REGISTER (spdldisaggregate, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlmix, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlpack, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlpipe, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlroute, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlsink, plugin);
  ret |= GST_ELEMENT_REGISTER (spdlsrc, plugin);
  return ret;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlcore,
    "Data loading for machine learning: source, groups, batches, sink",
    plugin_init, PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME,
    GST_PACKAGE_ORIGIN)
