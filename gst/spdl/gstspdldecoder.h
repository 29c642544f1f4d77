/* gst-spdl: decoder of single items in the calling thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_DECODER_H__
#define __GST_SPDL_DECODER_H__

#include <gst/spdl/gstspdlbatch.h>

G_BEGIN_DECLS

#define GST_TYPE_SPDL_DECODER (gst_spdl_decoder_get_type ())
GST_SPDL_API
G_DECLARE_FINAL_TYPE (
    GstSpdlDecoder, gst_spdl_decoder, GST, SPDL_DECODER, GObject)

GST_SPDL_API
GstSpdlDecoder *gst_spdl_decoder_new (const gchar *description, GError **error);

GST_SPDL_API
GstSpdlBatch *gst_spdl_decoder_decode (GstSpdlDecoder *decoder, GBytes *data,
    guint64 epoch, guint64 index, GError **error);

GST_SPDL_API
gchar *gst_spdl_decoder_take_warning (GstSpdlDecoder *decoder);

G_END_DECLS

#endif /* __GST_SPDL_DECODER_H__ */
