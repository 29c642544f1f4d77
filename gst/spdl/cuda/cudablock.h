/* gst-spdl: blocks of device memory and their synchronization events
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

/* A block is one allocation that contains all tensors of a batch. It is written
 * on the allocator's stream, between begin and end. Then any number of streams
 * may use it; each must wait for it first. When the last memory of the block is
 * freed, in any thread, an event is recorded in each of these streams, which
 * may be destroyed afterwards. The allocator's stream waits for these events
 * before it writes to the block again. The CPU never waits.
 *
 * A failed block has no content, because writing failed. */

typedef struct {
  cudaStream_t stream;
  GstSpdlCudaAllocator *allocator; /* nullable: owned, if it has the stream */
} GstSpdlCudaUser;

typedef struct {
  gint n_refs;
  gint n_parts; /* number of memories; each holds a reference */
  GstSpdlCudaAllocator *allocator; /* owned while references exist */
  guint8 *data;
  gsize size;
  cudaEvent_t begun, ready;

  SpdlMutex lock;
  GArray *users;   /* GstSpdlCudaUser: streams that wait for `ready`; guarded by
                      the lock */
  gboolean failed; /* guarded by the lock */
  GArray *left;    /* cudaEvent_t, reused for users; guarded by the lock */
  guint n_left;    /* number of events to wait for; guarded by the lock */
  gboolean lost;   /* an event failed: the end of use is unknown; guarded by the
                      lock */
} GstSpdlCudaBlock;

struct _GstSpdlCudaAllocator {
  GstAllocator parent;

  const GstSpdlCudart *cudart;
  gint device_id;
  cudaStream_t stream;
  gboolean ordered; /* memory is allocated and freed in stream order */

  SpdlMutex lock;
  GQueue free;    /* GstSpdlCudaBlock, oldest first; guarded by the lock */
  guint n_in_use; /* guarded by the lock */
};

/* Returns a block of at least @size bytes that the allocator's stream may write
 * to. Returns NULL with @error set if device memory is exhausted. */
SPDL_PRIVATE_API
GstSpdlCudaBlock *gst_spdl_cuda_block_take (
    GstSpdlCudaAllocator *allocator, gsize size, GError **error);
SPDL_PRIVATE_API
GstSpdlCudaBlock *gst_spdl_cuda_block_ref (GstSpdlCudaBlock *self);
SPDL_PRIVATE_API
void gst_spdl_cuda_block_unref (GstSpdlCudaBlock *self);

/* Must be called before and after the writes on the allocator's stream. */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_begin (GstSpdlCudaBlock *self, GError **error);
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_end (GstSpdlCudaBlock *self, GError **error);

/* Blocks until the writes have finished. @time: (out) (optional): their
 * duration in ns */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_finish (
    GstSpdlCudaBlock *self, guint64 *time, GError **error);
SPDL_PRIVATE_API
void gst_spdl_cuda_block_fail (GstSpdlCudaBlock *self);

/* See gst_spdl_cuda_memory_wait().
 *
 * @owner: (nullable): the allocator that has @stream */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_block_wait (GstSpdlCudaBlock *self, cudaStream_t stream,
    GstSpdlCudaAllocator *owner, GError **error);

/* As gst_spdl_cuda_memory_wait(), for the stream of an allocator, which exists
 * until the memory is released. */
SPDL_PRIVATE_API
gboolean gst_spdl_cuda_memory_wait_by (
    GstMemory *memory, GstSpdlCudaAllocator *allocator, GError **error);

/* Returns a memory for a part of the block, which keeps a reference to the
 * block. */
SPDL_PRIVATE_API
GstMemory *
gst_spdl_cuda_block_get_part (GstSpdlCudaBlock *self, gsize offset, gsize size);
/* Called when a memory is freed. */
void gst_spdl_cuda_block_drop_part (GstSpdlCudaBlock *self);

/* Frees the free blocks. */
void gst_spdl_cuda_block_free_all (GstSpdlCudaAllocator *allocator);

/* Implement the allocator's functions for memories. */
void gst_spdl_cuda_memory_init_allocator (GstAllocator *allocator);
void gst_spdl_cuda_memory_free (GstMemory *memory);

G_END_DECLS
