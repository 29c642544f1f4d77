/* gst-spdl: allocator that may fail
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* GStreamer's allocator of system memory ends the process where there is none
 * (g_malloc()), also for pools, for copies, and in the decoders that use it.
 * This one returns NULL, and all of them then fail: so an item that is too
 * large costs only itself. What it allocates is system memory like any other.
 */

/* Returns: (transfer none): the allocator, of which there is one */
SPDL_PRIVATE_API
GstAllocator *gst_spdl_try_allocator_get (void);

/* Allocates a buffer of one memory.
 *
 * Returns: (transfer full) (nullable): NULL: there is no memory */
SPDL_PRIVATE_API
GstBuffer *gst_spdl_buffer_try_new (gsize size);

/* Copies a buffer with the bytes of its memories, which can be mapped, and its
 * metas.
 *
 * Returns: (transfer full) (nullable): NULL: there is no memory */
SPDL_PRIVATE_API
GstBuffer *gst_spdl_buffer_try_copy (GstBuffer *buffer);

/* Makes a pool of buffers of @size bytes each, by this allocator, without an
 * upper bound, and activates it.
 *
 * Returns: (transfer full) (nullable): NULL: no pool has buffers so large */
SPDL_PRIVATE_API
GstBufferPool *gst_spdl_try_pool_new (GstCaps *caps, gsize size);

G_END_DECLS
