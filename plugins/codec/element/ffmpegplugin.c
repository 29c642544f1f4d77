/* gst-spdl: FFmpeg plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

GST_DEBUG_CATEGORY (spdl_decode_debug);

static gboolean
plugin_init (GstPlugin *plugin)
{
  static const SpdlFfmpegFuncs funcs = { &spdl_audio_decoder_funcs,
    &spdl_video_reader_funcs, spdl_ffmpeg_still_decode };

  GST_DEBUG_CATEGORY_INIT (spdl_decode_debug, "spdldecode", 0, "Decoding");
  g_object_set_data (G_OBJECT (plugin), SPDL_FFMPEG_DATA, (gpointer) &funcs);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, spdlffmpeg,
    "Data loading for machine learning: audio and video, for spdldecode",
    plugin_init, PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME,
    GST_PACKAGE_ORIGIN)
