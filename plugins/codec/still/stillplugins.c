/* gst-spdl: decoders of still images in plugins that are loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/stillplugins.h"

#include <string.h>

#include "plugins/codec/common/containers.h"

/* A decoder that passes all calls to that of a plugin. */
typedef struct {
  const SpdlImageDecoder *funcs; /* NULL: not loaded yet */
  gpointer decoder;
} PluginDecoder;

static void
destroy (gpointer decoder)
{
  PluginDecoder *self = decoder;

  if (self->funcs)
    self->funcs->destroy (self->decoder);
  g_free (self);
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  PluginDecoder *self = decoder;

  return self->funcs->read_rows (self->decoder, rows, keep, error);
}

static void
close_file (gpointer decoder)
{
  PluginDecoder *self = decoder;

  if (self->funcs)
    self->funcs->close (self->decoder);
}

static gboolean
load (
    PluginDecoder *self, const gchar *name, const gchar *format, GError **error)
{
  if (!self->funcs) {
    self->funcs = spdl_still_plugin_load (name, format, error);
    if (self->funcs)
      self->decoder = g_malloc0 (self->funcs->size);
  }
  return self->funcs != NULL;
}

static gboolean
accepts_avif (const guint8 *data, gsize size)
{
  static const gchar *const brands[] = { "avif", "avis", NULL };

  return spdl_mp4_has_brand (data, size, brands);
}

/* A file of which only the sequence is in HEVC is a video. */
static gboolean
accepts_heif (const guint8 *data, gsize size)
{
  static const gchar *const brands[] = { "heic", "heix", "heim", "heis", "mif1",
    NULL };

  return spdl_mp4_has_brand (data, size, brands);
}

static gboolean
accepts_jxl (const guint8 *data, gsize size)
{
  return size >= 12 && (memcmp (data, "\xff\x0a", 2) == 0 ||
                           memcmp (data, "\0\0\0\x0cJXL \r\n\x87\n", 12) == 0);
}

#define DEFINE_DECODER(name, format)                                           \
  static gboolean read_header_of_##name (gpointer decoder, const guint8 *data, \
      gsize size, guint64 max_pixels, SpdlImageHeader *header, GError **error) \
  {                                                                            \
    PluginDecoder *self = decoder;                                             \
                                                                               \
    return load (self, "spdl" #name, format, error) &&                         \
           self->funcs->read_header (                                          \
               self->decoder, data, size, max_pixels, header, error);          \
  }                                                                            \
  const SpdlImageDecoder spdl_##name##_decoder = { "image/" #name,             \
    accepts_##name, sizeof (PluginDecoder), destroy, read_header_of_##name,    \
    read_rows, close_file };

DEFINE_DECODER (avif, "AVIF")
DEFINE_DECODER (heif, "HEIC")
DEFINE_DECODER (jxl, "JPEG XL")
