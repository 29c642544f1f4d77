/* gst-spdl: buffer pool of batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A slab is one buffer of a pool, which stays mapped while any part of it is in
 * use. Its parts are separate memories, which may outlive the batch. The buffer
 * returns to its pool with the last of them. */

typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  gint n_refs;
} SpdlSlab;

/* Alignment of tensors, in bytes. */
#define SPDL_SLAB_ALIGNMENT 64

/* Rounds @size up to a multiple of the alignment. */
static inline gsize
spdl_slab_align (gsize size)
{
  return (size + SPDL_SLAB_ALIGNMENT - 1) & ~(gsize) (SPDL_SLAB_ALIGNMENT - 1);
}

/* Maps @buffer (transfer full). Returns NULL if that fails. */
SpdlSlab *spdl_slab_new (GstBuffer *buffer);
void spdl_slab_unref (SpdlSlab *self);

/* Returns (transfer full) a memory of @size bytes at @offset. */
GstMemory *spdl_slab_get_part (SpdlSlab *self, gsize offset, gsize size);

/* Number of batches in the pool, unless downstream requests more. */
#define SPDL_BATCH_POOL_SIZE 16

/* Pool for batches: the downstream pool if there is one, which may for example
 * allocate page-locked memory, otherwise one of the element. It is negotiated
 * again if its buffers are too small, or if downstream requests it. Since a
 * trainer may keep batches, acquiring never blocks: if all buffers are in use,
 * a batch gets separate memory. A batch of 4 GiB or more gets separate memory,
 * too, because GstBufferPool has a 32-bit size. */
typedef struct {
  GstBufferPool *pool; /* nullable */
  gsize size;          /* of its buffers, in bytes; 0: not negotiated yet */
  guint n_buffers;     /* maximum */
  GstAllocator *allocator;
  GstAllocationParams params;
} SpdlBatchPool;

/* Returns TRUE if the pool's buffers have at least @size bytes. */
gboolean spdl_batch_pool_fits (const SpdlBatchPool *self, gsize size);

/* Negotiates a pool with the peer of @srcpad, with the caps of a full batch. */
gboolean spdl_batch_pool_negotiate (
    SpdlBatchPool *self, GstPad *srcpad, GstCaps *caps, gsize size);

/* Acquires a buffer without blocking.
 *
 * @pooled: (out): FALSE if no buffer of the pool was available; the buffer then
 *     has separate memory, which is freed with it
 *
 * Returns GST_FLOW_ERROR if memory is exhausted. */
GstFlowReturn spdl_batch_pool_acquire (
    SpdlBatchPool *self, GstBuffer **buffer, gboolean *pooled);

/* Releases the pool; buffers in use keep it alive. */
void spdl_batch_pool_clear (SpdlBatchPool *self);

G_END_DECLS
