/* gst-spdl: allocator of CUDA device memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_CUDA_ALLOCATOR_H__
#define __GST_SPDL_CUDA_ALLOCATOR_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

#define GST_TYPE_SPDL_CUDA_ALLOCATOR (gst_spdl_cuda_allocator_get_type ())

/**
 * GstSpdlCudaAllocator:
 *
 * Makes memory of one CUDA device, which is written on a stream of the
 * allocator's. What is freed is kept, up to 8 pieces, and written again when
 * those who were made to wait for it are done with it. Where the device can,
 * the rest is given back in the order of the stream, so that nothing waits.
 *
 * Since: 0.1
 */
GST_SPDL_API
G_DECLARE_FINAL_TYPE (GstSpdlCudaAllocator, gst_spdl_cuda_allocator, GST,
    SPDL_CUDA_ALLOCATOR, GstAllocator)

GST_SPDL_API
GstAllocator *gst_spdl_cuda_allocator_new (gint device_id, GError **error);

GST_SPDL_API
gint gst_spdl_cuda_allocator_get_device_id (GstSpdlCudaAllocator *allocator);

GST_SPDL_API
gpointer gst_spdl_cuda_allocator_get_stream (GstSpdlCudaAllocator *allocator);

G_END_DECLS

#endif /* __GST_SPDL_CUDA_ALLOCATOR_H__ */
