/* gst-spdl: private parts of batches and tensors
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlbatch.h"

#include <sys/types.h>

G_BEGIN_DECLS

/* A part of its batch: a reference to a tensor is one to the batch, so that a
 * batch is one piece of memory, and its buffer lives as long as any view. */
struct _GstSpdlTensor {
  GstSpdlBatch *batch; /* not counted */
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
  GstMapInfo map; /* map.memory: owned, or NULL */
};

struct _GstSpdlBatch {
  gint n_refs;
  pid_t pid; /* in a child of that process, its pool may be locked for ever */
  GstBuffer *buffer;
  GstCaps *caps;                /* nullable */
  const GstSpdlBatchMeta *meta; /* nullable: the buffer's */
  const GstSpdlItemMeta *items; /* the buffer's */
  guint n_items;
  guint n_tensors;
  GstSpdlTensor tensors[];
};

/* Says type and shape, with no gaps between elements. */
void
gst_spdl_tensor_set_info (GstSpdlTensor *self, const GstSpdlTensorInfo *info);

/* Maps @memory (transfer full), of which the tensor begins at @offset: for
 * writing too if it is @exclusive, and nothing else has a hold on it. */
gboolean gst_spdl_tensor_map (GstSpdlTensor *self, GstMemory *memory,
    gsize offset, gboolean exclusive, GError **error);
void gst_spdl_tensor_unmap (GstSpdlTensor *self);

G_END_DECLS
