/* gst-spdl: asynchronous uploads to a CUDA device
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/cuda/cudablock.h"

G_BEGIN_DECLS

/* A batch and the layout of its tensors on the device. Tensors in one range of
 * page-locked memory are copied together, otherwise one by one. Since a device
 * cannot copy asynchronously from other memory, such tensors are first copied
 * to page-locked memory. The source stays mapped until the transfer is
 * cleared. */

typedef struct {
  GstBuffer *batch; /* owned */
  guint n_tensors;
  GstMapInfo maps[GST_SPDL_MAX_TENSORS];
  gsize offsets[GST_SPDL_MAX_TENSORS]; /* on the device */
  gsize size;                          /* total size on the device */
  guint8 *piece; /* start of the common range; NULL: tensors are copied one by
                    one */
  gboolean is_moved; /* tensors were not in page-locked memory */
  GstMemory *moved;  /* nullable: page-locked copy, mapped */
  GstMapInfo moved_map;
} SpdlTransfer;

/* @batch: (transfer full), also in case of an error
 * @pinned: allocator for tensors that must be copied first */
gboolean spdl_transfer_init (SpdlTransfer *self, GstBuffer *batch,
    GstSpdlCudaAllocator *allocator, GstAllocator *pinned, GError **error);

/* Starts the copies on the block's stream. */
gboolean spdl_transfer_begin (
    SpdlTransfer *self, GstSpdlCudaBlock *block, GError **error);

/* Call it after the copies are done, or if they were not started. */
void spdl_transfer_clear (SpdlTransfer *self);

/* A bounded queue of transfers, which the device performs in order. A thread
 * waits for their events and releases the batches; no other thread waits for
 * events. */

typedef struct _SpdlUploads SpdlUploads;

/* Called on the thread, without the lock. */
typedef struct {
  /* A transfer is done. @time: duration on the device, in ns. */
  void (*done) (gpointer user_data, guint64 time);
  /* A transfer failed, and so will all later ones. Called once. */
  void (*failed) (gpointer user_data, const GError *error);
  gpointer user_data;
} SpdlUploadsFuncs;

typedef enum {
  SPDL_UPLOADS_OK,
  SPDL_UPLOADS_FLUSHING,
  SPDL_UPLOADS_FAILED,
} SpdlUploadsState;

/* Returns NULL with @error set if the thread cannot be created. */
SpdlUploads *spdl_uploads_new (const GstSpdlCudart *cudart, gint device_id,
    guint max_in_flight, const SpdlUploadsFuncs *funcs, GError **error);

/* Waits for the transfers in flight and frees the object. */
void spdl_uploads_free (SpdlUploads *self);

/* Waits while the maximum number of transfers is in flight. */
SpdlUploadsState spdl_uploads_wait_for_room (SpdlUploads *self);

/* Adds a transfer that was started (its content is moved), and its block
 * (transfer full). Call it only after spdl_uploads_wait_for_room(). */
void spdl_uploads_add (
    SpdlUploads *self, SpdlTransfer *transfer, GstSpdlCudaBlock *block);

/* Waits until no transfer is in flight. */
SpdlUploadsState spdl_uploads_drain (SpdlUploads *self);

/* Wakes waiting threads, and lets calls return immediately until it is called
 * with FALSE. */
void spdl_uploads_set_flushing (SpdlUploads *self, gboolean flushing);

G_END_DECLS
