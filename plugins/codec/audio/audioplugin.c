/* gst-spdl: audio plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/audio/audiodecoder.h"

GST_DEBUG_CATEGORY (spdl_decode_debug);

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_DEBUG_CATEGORY_INIT (spdl_decode_debug, "spdldecode", 0, "Decoding");
  spdl_audio_decoder_take_log ();
  g_object_set_data (
      G_OBJECT (plugin), SPDL_AUDIO_DATA, (gpointer) &spdl_audio_decoder_funcs);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlaudio,
    "Data loading for machine learning: audio, for spdldecode", plugin_init,
    PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
