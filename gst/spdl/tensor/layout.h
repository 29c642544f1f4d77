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

/* Caps are read once, not for each batch. */

typedef enum {
  GST_SPDL_LAYOUT_BYTES,
  GST_SPDL_LAYOUT_IMAGE, /* one plane of whole bytes or 16-bit samples */
  GST_SPDL_LAYOUT_SOUND, /* interleaved; a buffer's size says how long */
  GST_SPDL_LAYOUT_TENSORS,
  GST_SPDL_LAYOUT_PARTS, /* each buffer says itself of what it consists */
} GstSpdlLayoutKind;

typedef struct {
  GstCaps *caps; /* nullable */
  GstSpdlLayoutKind kind;
  GstSpdlTensorsInfo info; /* but for bytes */
  GstVideoInfo video;      /* of an image */
} GstSpdlLayout;

/* @caps: (nullable). No effect where they are the same. */
gboolean
gst_spdl_layout_set_caps (GstSpdlLayout *self, GstCaps *caps, GError **error);
void gst_spdl_layout_clear (GstSpdlLayout *self);

/* @exclusive: nobody else has a hold on @buffer.
 *
 * Returns: (transfer full): a view of @buffer, or NULL with @error set */
GstSpdlBatch *gst_spdl_layout_view (const GstSpdlLayout *self,
    GstBuffer *buffer, gboolean exclusive, GError **error);

G_END_DECLS
