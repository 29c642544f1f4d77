/* gst-spdl: layout of tensors in buffers of given caps
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

#include "gst/spdl/gstspdlbatch.h"

G_BEGIN_DECLS

/* Caps are parsed once, and not for each batch. */

typedef enum {
  GST_SPDL_LAYOUT_BYTES,
  GST_SPDL_LAYOUT_IMAGE, /* one plane of whole bytes or 16-bit samples */
  GST_SPDL_LAYOUT_SOUND, /* interleaved; the length depends on the buffer's size
                          */
  GST_SPDL_LAYOUT_TENSORS,
  GST_SPDL_LAYOUT_PARTS, /* each buffer describes its parts */
} GstSpdlLayoutKind;

typedef struct {
  GstCaps *caps; /* nullable */
  GstSpdlLayoutKind kind;
  GstSpdlTensorsInfo info; /* except for bytes */
  GstVideoInfo video;      /* for an image */
} GstSpdlLayout;

/* Sets the caps. No effect if they are unchanged. @caps: (nullable) */
gboolean
gst_spdl_layout_set_caps (GstSpdlLayout *self, GstCaps *caps, GError **error);
void gst_spdl_layout_clear (GstSpdlLayout *self);

/* Creates a view of @buffer.
 *
 * @exclusive: no other references to @buffer exist
 *
 * Returns: (transfer full): the view, or NULL with @error set */
GstSpdlBatch *gst_spdl_layout_view (const GstSpdlLayout *self,
    GstBuffer *buffer, gboolean exclusive, GError **error);

G_END_DECLS
