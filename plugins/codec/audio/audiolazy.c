/* gst-spdl: loading of the audio plugin on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audiofuncs.h"
#include "plugins/common/pluginfuncs.h"

const SpdlAudioFuncs *
spdl_audio_get_funcs (GError **error)
{
  static const SpdlAudioFuncs *known;
  const SpdlAudioFuncs *funcs = g_atomic_pointer_get (&known);

  if (funcs)
    return funcs;
  funcs = spdl_plugin_load_funcs (
      SPDL_AUDIO_PLUGIN, SPDL_AUDIO_DATA, "decodes audio", NULL);
  if (!funcs)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "Audio cannot be decoded, because gst-spdl's plugin " SPDL_AUDIO_PLUGIN
        " is missing or cannot be loaded; it needs FFmpeg's libraries: on "
        "Debian, install libavformat-dev, libavcodec-dev and "
        "libswresample-dev, and build gst-spdl again");
  g_atomic_pointer_set (&known, funcs);
  return funcs;
}
