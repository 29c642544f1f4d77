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
 * Allocates memory of one CUDA device, which is written on a stream of the
 * allocator. It keeps up to 8 freed pieces and reuses one when the streams that
 * waited for it have finished their work. If the device supports it, further
 * pieces are freed in stream order, without blocking.
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
