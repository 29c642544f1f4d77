/* gst-spdl: CUDA plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/cuda.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = GST_ELEMENT_REGISTER (spdlcudaupload, plugin);

#ifdef HAVE_NVCC
  ok &= GST_ELEMENT_REGISTER (spdlcudanormalize, plugin);
#endif
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlcuda,
    "Batches on CUDA devices", plugin_init, PACKAGE_VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
