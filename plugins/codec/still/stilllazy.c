/* gst-spdl: loading of the plugins of still images on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/stillplugins.h"
#include "plugins/common/pluginfuncs.h"

const SpdlImageDecoder *
spdl_still_plugin_load (const gchar *name, const gchar *format, GError **error)
{
  const SpdlImageDecoder *decoder =
      spdl_plugin_load_funcs (name, SPDL_STILL_DATA, "decodes it", NULL);

  if (!decoder)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "%s cannot be decoded, because gst-spdl's plugin %s is missing or "
        "cannot be loaded: on Debian, install lib%s-dev and build gst-spdl "
        "again",
        format, name, name + strlen ("spdl"));
  return decoder;
}
