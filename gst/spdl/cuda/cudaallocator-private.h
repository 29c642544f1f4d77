/* gst-spdl: private parts of the CUDA allocator
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/cuda/cudablock.h"

G_BEGIN_DECLS

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

/* Takes a free block or allocates one, without a reference. The allocator's
 * stream waits for its last users. */
GstSpdlCudaBlock *gst_spdl_cuda_allocator_take (
    GstSpdlCudaAllocator *self, gsize size, GError **error);

/* Returns a block. Events of its users have been recorded. */
void gst_spdl_cuda_allocator_give_back (
    GstSpdlCudaAllocator *self, GstSpdlCudaBlock *block);

/* Implement the allocator's functions for memories. */
void gst_spdl_cuda_memory_init_allocator (GstAllocator *allocator);
void gst_spdl_cuda_memory_free (GstMemory *memory);

G_END_DECLS
