/* gst-spdl: uploads in flight
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

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

/* A bounded number of transfers that a device is doing, in their order. A
 * thread of its own waits for each one's event, and gives its batch back;
 * nobody else waits for an event. */

typedef struct _SpdlUploads SpdlUploads;

/* On the thread; without a lock. */
typedef struct {
  /* A transfer is done, and took the device so many ns. */
  void (*done) (gpointer user_data, guint64 time);
  /* It has failed, and so have all behind it. Once. */
  void (*failed) (gpointer user_data, const GError *error);
  gpointer user_data;
} SpdlUploadsFuncs;

typedef enum {
  SPDL_UPLOADS_OK,
  SPDL_UPLOADS_FLUSHING,
  SPDL_UPLOADS_FAILED,
} SpdlUploadsState;

SpdlUploads *spdl_uploads_new (const GstSpdlCudart *cudart, gint device_id,
    guint max_in_flight, const SpdlUploadsFuncs *funcs);

/* Waits until those in flight are done, and frees all. */
void spdl_uploads_free (SpdlUploads *self);

/* Waits while there are as many in flight as there may be. */
SpdlUploadsState spdl_uploads_wait_for_room (SpdlUploads *self);

/* A transfer that was begun (its content is taken), and its block (transfer
 * full). Only behind spdl_uploads_wait_for_room(). */
void spdl_uploads_add (
    SpdlUploads *self, SpdlTransfer *transfer, GstSpdlCudaBlock *block);

/* Waits until none is in flight. */
SpdlUploadsState spdl_uploads_drain (SpdlUploads *self);

/* Who waits is let go, until it is over. */
void spdl_uploads_set_flushing (SpdlUploads *self, gboolean flushing);

G_END_DECLS
