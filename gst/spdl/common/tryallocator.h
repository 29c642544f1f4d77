/* gst-spdl: allocator of system memory that may fail
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* GStreamer's allocator of system memory aborts the process if memory is
 * exhausted (g_malloc()), also for pools, copies and decoders that use it. This
 * allocator returns NULL instead, and all of them report an error, so that
 * only the item that is too large fails. Its memories are ordinary system
 * memory. */

/* Returns: (transfer none): the allocator, a singleton */
GstAllocator *gst_spdl_try_allocator_get (void);

/* Allocates a buffer with one memory.
 *
 * Returns: (transfer full) (nullable): NULL if memory is exhausted */
GstBuffer *gst_spdl_buffer_try_new (gsize size);

/* Copies a buffer with the content of its memories, which must be mappable, and
 * its metas.
 *
 * Returns: (transfer full) (nullable): NULL if memory is exhausted */
GstBuffer *gst_spdl_buffer_try_copy (GstBuffer *buffer);

/* Creates and activates a pool of buffers of @size bytes, without a maximum,
 * that uses this allocator.
 *
 * Returns: (transfer full) (nullable): NULL if @size is too large for a pool */
GstBufferPool *gst_spdl_try_pool_new (GstCaps *caps, gsize size);

SPDL_END_PRIVATE_API
G_END_DECLS
