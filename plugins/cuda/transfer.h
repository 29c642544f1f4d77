/* gst-spdl: the tensors of a batch on their way to a device
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TRANSFER_H__
#define __SPDL_TRANSFER_H__

#include <gst/spdl/spdl.h>

#include "gst/spdl/cuda/cudablock.h"

G_BEGIN_DECLS

/* Where on the device the tensors of a batch will lie, and what is copied: one
 * piece, if they are parts of one range of page-locked memory; if not, each. A
 * device cannot copy by itself from other memory, and the CPU would wait; so
 * that is moved first, into page-locked memory of ours. Whatever is copied
 * stays mapped, and the batch's, until the transfer is cleared. */

typedef struct {
  GstBuffer *batch; /* owned */
  guint n_tensors;
  GstMapInfo maps[GST_SPDL_MAX_TENSORS];
  gsize offsets[GST_SPDL_MAX_TENSORS]; /* on the device */
  gsize size;                          /* of all, there */
  guint8 *piece;                       /* NULL: each alone */
  gboolean is_moved;                   /* or had to be */
  GstMemory *moved;                    /* nullable; mapped */
  GstMapInfo moved_map;
} SpdlTransfer;

/* @batch: (transfer full), also in case of an error. @pinned: for what has to
 * be moved first. */
gboolean spdl_transfer_init (SpdlTransfer *self, GstBuffer *batch,
    GstSpdlCudaAllocator *allocator, GstAllocator *pinned, GError **error);

/* Gives the copies to the block's stream. */
gboolean spdl_transfer_begin (
    SpdlTransfer *self, GstSpdlCudaBlock *block, GError **error);

/* When the copies are done, or were never begun. */
void spdl_transfer_clear (SpdlTransfer *self);

G_END_DECLS

#endif /* __SPDL_TRANSFER_H__ */
