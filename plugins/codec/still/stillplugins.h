/* gst-spdl: decoders of still images in plugins that are loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/still/imagedecoder.h"

G_BEGIN_DECLS

/* Debian's libraries for AVIF, HEIC and JPEG XL load thirty others, encoders
 * among them, and one is under the GPL. Therefore each is in a separate plugin,
 * without elements, which spdldecode loads for the first such file. */

/* Key of the SpdlImageDecoder in the plugin's object data. */
#define SPDL_STILL_DATA "spdl-still"

/* Defines such a plugin. */
#define SPDL_STILL_PLUGIN(name, format, decoder)                       \
  static gboolean name##_init (GstPlugin *plugin)                      \
  {                                                                    \
    g_object_set_data (                                                \
        G_OBJECT (plugin), SPDL_STILL_DATA, (gpointer) & (decoder));   \
    return TRUE;                                                       \
  }                                                                    \
  GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, name,       \
      "Data loading for machine learning: " format ", for spdldecode", \
      name##_init, PACKAGE_VERSION, GST_LICENSE, GST_PACKAGE_NAME,     \
      GST_PACKAGE_ORIGIN)

extern const SpdlImageDecoder spdl_libavif_decoder;
extern const SpdlImageDecoder spdl_libheif_decoder;
extern const SpdlImageDecoder spdl_libjxl_decoder;

/* Returns the decoder of the plugin @name; NULL with @error set if the plugin
 * is missing. Only in the plugin of spdldecode: fuzz targets replace it. */
const SpdlImageDecoder *
spdl_still_plugin_load (const gchar *name, const gchar *format, GError **error);

G_END_DECLS
