/* gst-spdl: allocator of page-locked host memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_PINNED_ALLOCATOR_H__
#define __GST_SPDL_PINNED_ALLOCATOR_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_PINNED_MEMORY_TYPE:
 *
 * Memory type of a #GstSpdlPinnedAllocator.
 *
 * Since: 0.1
 */
#define GST_SPDL_PINNED_MEMORY_TYPE "SpdlPinnedMemory"

#define GST_TYPE_SPDL_PINNED_ALLOCATOR (gst_spdl_pinned_allocator_get_type ())

/**
 * GstSpdlPinnedAllocator:
 *
 * Allocates page-locked host memory, from which a CUDA device can copy
 * asynchronously. It is mapped like any other memory. Locking pages takes
 * milliseconds, so the allocator keeps up to 16 freed pieces for reuse until it
 * and all of its memory are unreferenced. If no more pages can be locked, it
 * allocates ordinary memory.
 *
 * Since: 0.1
 */
GST_SPDL_API
G_DECLARE_FINAL_TYPE (GstSpdlPinnedAllocator, gst_spdl_pinned_allocator, GST,
    SPDL_PINNED_ALLOCATOR, GstAllocator)

GST_SPDL_API
GstAllocator *gst_spdl_pinned_allocator_new (gint device_id, GError **error);

G_END_DECLS

#endif /* __GST_SPDL_PINNED_ALLOCATOR_H__ */
