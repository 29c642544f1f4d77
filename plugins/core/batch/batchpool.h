/* gst-spdl: buffer pool of batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A slab is one buffer of a pool, mapped for as long as any part of it is in
 * use. Its parts are memories of their own, which may outlive the batch that
 * they were made for; the buffer goes back to its pool with the last. */

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

/* @buffer: (transfer full). Returns NULL if it cannot be mapped. */
SpdlSlab *spdl_slab_new (GstBuffer *buffer);
void spdl_slab_unref (SpdlSlab *self);

/* Returns: (transfer full): @size bytes from @offset on. */
GstMemory *spdl_slab_get_part (SpdlSlab *self, gsize offset, gsize size);

/* Number of batches in the pool, unless downstream requests more. */
#define SPDL_BATCH_POOL_SIZE 16

/* Downstream's pool where it offers one (page-locked memory, say), else one of
 * our own. Kept while it is large enough. A trainer may keep what it likes:
 * when all of the pool is in use, there is other memory. GStreamer's pools
 * count bytes in 32 bits: larger batches have none, and each has memory of its
 * own. */
typedef struct {
  GstBufferPool *pool; /* nullable */
  gsize size;          /* of its buffers; 0: not negotiated yet */
  guint n_buffers;     /* at most */
  GstAllocator *allocator;
  GstAllocationParams params;
} SpdlBatchPool;

/* Returns TRUE if the pool's buffers have at least @size bytes. */
gboolean spdl_batch_pool_fits (const SpdlBatchPool *self, gsize size);

/* Negotiates with downstream of @srcpad again, with the caps of a full batch.
 */
gboolean spdl_batch_pool_negotiate (
    SpdlBatchPool *self, GstPad *srcpad, GstCaps *caps, gsize size);

/* Never waits.
 * @pooled: FALSE: all of the pool's are in use; its memory is its own, and is
 * freed with it
 * Returns GST_FLOW_ERROR if there is no memory. */
GstFlowReturn spdl_batch_pool_acquire (
    SpdlBatchPool *self, GstBuffer **buffer, gboolean *pooled);

/* Releases the pool; buffers in use keep it alive. */
void spdl_batch_pool_clear (SpdlBatchPool *self);

G_END_DECLS
