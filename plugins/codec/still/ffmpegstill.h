/* gst-spdl: still images decoded by libavcodec
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Decodes a file of one image like SpdlFfmpegFuncs. */
GstBuffer *spdl_ffmpeg_still_decode (const gchar *codec_name,
    const guint8 *data, gsize size, GstVideoInfo *info, GError **error);

G_END_DECLS
