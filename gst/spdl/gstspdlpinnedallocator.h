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
 * The memory type of what a #GstSpdlPinnedAllocator makes.
 *
 * Since: 0.1
 */
#define GST_SPDL_PINNED_MEMORY_TYPE "SpdlPinnedMemory"

#define GST_TYPE_SPDL_PINNED_ALLOCATOR (gst_spdl_pinned_allocator_get_type ())

/**
 * GstSpdlPinnedAllocator:
 *
 * Makes memory of the CPU's that stays in its place, so that a CUDA device
 * copies from it by itself. It is mapped as any other. To lock pages takes
 * milliseconds, so what is freed is kept and handed out again: up to 16 pieces,
 * until nobody refers to the allocator or any memory of it. Where no more can
 * be locked, it makes memory as any other.
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
