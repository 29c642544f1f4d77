/* gst-spdl: private parts of the allocator of CUDA memory
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
  gboolean ordered; /* memory comes and goes in the order of the stream */

  SpdlMutex lock;
  GQueue free;    /* of GstSpdlCudaBlock, the oldest first; under the lock */
  guint n_in_use; /* under the lock */
};

/* A block without a reference, from those that are free or a new one. The
 * stream waits for its last users. */
GstSpdlCudaBlock *gst_spdl_cuda_allocator_take (
    GstSpdlCudaAllocator *self, gsize size, GError **error);

/* Its users are noted. The device is the current one. */
void gst_spdl_cuda_allocator_give_back (
    GstSpdlCudaAllocator *self, GstSpdlCudaBlock *block);

/* For gst_allocator_alloc() and the memories themselves. */
void gst_spdl_cuda_memory_init_allocator (GstAllocator *allocator);
void gst_spdl_cuda_memory_free (GstMemory *memory);

G_END_DECLS
