/* gst-spdl: private parts of batches and tensors, and their layout in buffers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

#include "gst/spdl/gstspdlbatch.h"
#include <sys/types.h>

G_BEGIN_DECLS

/* A tensor is a part of its batch, and a reference to it is a reference to the
 * batch. Therefore a batch is one allocation, and its buffer lives as long as
 * any tensor. */
struct _GstSpdlTensor {
  GstSpdlBatch *batch; /* not counted as a reference */
  const gchar *name;   /* interned */
  GstSpdlTensorType type;
  guint n_dims;
  gint64 shape[GST_SPDL_MAX_RANK];
  gint64 strides[GST_SPDL_MAX_RANK]; /* in bytes */
  GstSpdlDeviceType device_type;
  gint device_id;
  guint8 *data;
  gsize size;
  gboolean writable;
  GstMapInfo map; /* map.memory is owned, or NULL */
};

struct _GstSpdlBatch {
  gint n_refs;
  pid_t pid; /* a child process must not use the pool, which may be locked */
  GstBuffer *buffer;
  GstCaps *caps;                /* nullable */
  const GstSpdlBatchMeta *meta; /* nullable: of the buffer */
  const GstSpdlItemMeta *items; /* of the buffer */
  guint n_items;
  guint n_tensors;
  GstSpdlTensor tensors[];
};

/* Frees a view that gst_spdl_layout_view() created. */
void gst_spdl_batch_free (GstSpdlBatch *self);

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
