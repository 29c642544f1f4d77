/* gst-spdl: CUDA device memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_CUDA_MEMORY_H__
#define __GST_SPDL_CUDA_MEMORY_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_CUDA_MEMORY_TYPE:
 *
 * Memory type of a #GstSpdlCudaAllocator.
 *
 * Since: 0.1
 */
#define GST_SPDL_CUDA_MEMORY_TYPE "SpdlCUDAMemory"

/**
 * GST_SPDL_CAPS_FEATURE_CUDA_MEMORY:
 *
 * Caps feature of buffers in CUDA device memory.
 *
 * Since: 0.1
 */
#define GST_SPDL_CAPS_FEATURE_CUDA_MEMORY "memory:SpdlCUDAMemory"

/**
 * GstSpdlCudaMemory:
 *
 * A #GstMemory on a CUDA device. Opaque. Its content is valid after an event on
 * the device, for which a stream can wait.
 *
 * Since: 0.1
 */
typedef struct _GstSpdlCudaMemory GstSpdlCudaMemory;

GST_SPDL_API
gboolean gst_spdl_is_cuda_memory (GstMemory *memory);

GST_SPDL_API
gint gst_spdl_cuda_memory_get_device_id (GstMemory *memory);

GST_SPDL_API
gpointer gst_spdl_cuda_memory_get_address (GstMemory *memory);

GST_SPDL_API
gboolean
gst_spdl_cuda_memory_wait (GstMemory *memory, gpointer stream, GError **error);

G_END_DECLS

#endif /* __GST_SPDL_CUDA_MEMORY_H__ */
