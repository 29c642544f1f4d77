/* gst-spdl: OpenEXR decoder, a GStreamer element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Holds the element openexrdec between files. FFmpeg's decoder cannot replace
 * it: it reads no luminance and chroma, no files of a single other channel, and
 * no gray with the compressions DWAA and DWAB. Not thread-safe. */

typedef struct _SpdlExrElement SpdlExrElement;

SpdlExrElement *spdl_exr_element_new (void);
void spdl_exr_element_free (SpdlExrElement *self);

/* Decodes the file @data.
 * @info: (out): describes the frame
 * Returns: (transfer full): the frame, or NULL with @error set */
GstBuffer *spdl_exr_element_decode (SpdlExrElement *self, const guint8 *data,
    gsize size, GstVideoInfo *info, GError **error);

G_END_DECLS
