/* gst-spdl: a block of device memory, with the events that guard it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudart.h"
#include "gst/spdl/engine/sync.h"
#include "gst/spdl/gstspdlcudaallocator.h"

G_BEGIN_DECLS

/* A block is one allocation, in which all tensors of a batch lie. It is written
 * on its allocator's stream, between begin and end; after that any number of
 * streams may use it, each of which has to be told to wait first. When the last
 * reference goes, on any thread, each of these streams gets an event behind
 * what it was given so far, and the allocator's stream waits for those before
 * it writes the block again. The CPU waits for nothing.
 *
 * A failed block has no content: its writing was an error. */

typedef struct {
  gint n_refs;
  GstSpdlCudaAllocator *allocator; /* owned while there are references */
  guint8 *data;
  gsize size;
  cudaEvent_t begun, ready;

  SpdlMutex lock;
  GArray *users;   /* of cudaStream_t, that wait for `ready`; under the lock */
  gboolean failed; /* under the lock */

  GArray
      *left; /* of cudaEvent_t, one for each user that there ever was at once */
  guint n_left;  /* how many of them are to be waited for */
  gboolean lost; /* it cannot be told when users are done */
} GstSpdlCudaBlock;

/* A block of at least @size bytes, which the stream may write. NULL with @error
 * set if the device has no memory. */
SPDL_PRIVATE_API
GstSpdlCudaBlock *gst_spdl_cuda_block_take (
    GstSpdlCudaAllocator *allocator, gsize size, GError **error);
SPDL_PRIVATE_API
GstSpdlCudaBlock *gst_spdl_cuda_block_ref (GstSpdlCudaBlock *self);
SPDL_PRIVATE_API
void gst_spdl_cuda_block_unref (GstSpdlCudaBlock *self);

/* Before and behind what the allocator's stream writes. */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_begin (GstSpdlCudaBlock *self, GError **error);
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_end (GstSpdlCudaBlock *self, GError **error);

/* The CPU waits until it is written. @time: (out) (optional): how many ns that
 * took the device. */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_finish (
    GstSpdlCudaBlock *self, guint64 *time, GError **error);
SPDL_PRIVATE_API
void gst_spdl_cuda_block_fail (GstSpdlCudaBlock *self);

/* As gst_spdl_cuda_memory_wait(). */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_wait (
    GstSpdlCudaBlock *self, cudaStream_t stream, GError **error);

/* A part as memory of its own, which refers to the block. */
SPDL_PRIVATE_API
GstMemory *
gst_spdl_cuda_block_get_part (GstSpdlCudaBlock *self, gsize offset, gsize size);

/* For the allocator: without a reference. */
GstSpdlCudaBlock *gst_spdl_cuda_block_new (
    GstSpdlCudaAllocator *allocator, gpointer data, gsize size, GError **error);
void
gst_spdl_cuda_block_free (GstSpdlCudaBlock *self, const GstSpdlCudart *cudart);
/* Makes @stream wait for those who used the block. */
gboolean gst_spdl_cuda_block_await_users (GstSpdlCudaBlock *self,
    const GstSpdlCudart *cudart, cudaStream_t stream, GError **error);

G_END_DECLS
