/* gst-spdl: loading of the FFmpeg plugin on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"
#include "plugins/common/pluginfuncs.h"

const SpdlFfmpegFuncs *
spdl_ffmpeg_get_funcs (GError **error)
{
  static const SpdlFfmpegFuncs *known;
  const SpdlFfmpegFuncs *funcs = g_atomic_pointer_get (&known);

  if (funcs)
    return funcs;
  funcs = spdl_plugin_load_funcs (SPDL_FFMPEG_PLUGIN, SPDL_FFMPEG_DATA,
      "decodes audio, video and some images", NULL);
  if (!funcs)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Audio, video and some images cannot be decoded, because gst-spdl's "
        "plugin " SPDL_FFMPEG_PLUGIN
        " is missing or cannot be loaded; it needs FFmpeg's libraries: on "
        "Debian, install libavformat-dev, libavcodec-dev and "
        "libswresample-dev, and build gst-spdl again");
  g_atomic_pointer_set (&known, funcs);
  return funcs;
}
