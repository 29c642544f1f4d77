/* gst-spdl: audio caps as the shape of a tensor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <string.h>

#include "gst/spdl/gstspdltensorsinfo.h"

G_BEGIN_DECLS

/* Reads caps of interleaved audio in native byte order with a sample type that
 * tensors support. Such audio is a tensor of channels by samples, and the caps
 * contain the number of channels. Returns FALSE for other caps. */
static inline gboolean
gst_spdl_read_audio_caps (
    const GstStructure *s, GstSpdlTensorType *type, guint *n_channels)
{
  static const struct {
    const gchar *format;
    GstSpdlTensorType type;
  } types[] = {
    { "S8", GST_SPDL_TENSOR_INT8 },
    { "U8", GST_SPDL_TENSOR_UINT8 },
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    { "S16LE", GST_SPDL_TENSOR_INT16 },
    { "S32LE", GST_SPDL_TENSOR_INT32 },
    { "F32LE", GST_SPDL_TENSOR_FLOAT32 },
    { "F64LE", GST_SPDL_TENSOR_FLOAT64 },
#else
    { "S16BE", GST_SPDL_TENSOR_INT16 },
    { "S32BE", GST_SPDL_TENSOR_INT32 },
    { "F32BE", GST_SPDL_TENSOR_FLOAT32 },
    { "F64BE", GST_SPDL_TENSOR_FLOAT64 },
#endif
  };
  const gchar *format = gst_structure_get_string (s, "format");
  const gchar *layout = gst_structure_get_string (s, "layout");
  gint channels;

  if (!gst_structure_has_name (s, "audio/x-raw") || !format || !layout ||
      strcmp (layout, "interleaved") != 0 ||
      !gst_structure_get_int (s, "channels", &channels) || channels < 1)
    return FALSE;
  *n_channels = channels;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    *type = types[i].type;
    if (strcmp (format, types[i].format) == 0)
      return TRUE;
  }
  return FALSE;
}

G_END_DECLS
