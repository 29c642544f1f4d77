/* gst-spdl: slabs for what does not lie in one
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __WORKER_COPIES_H__
#define __WORKER_COPIES_H__

#include "plugins/ipc/wire/parcelbuffer.h"

G_BEGIN_DECLS

/* A pool of slabs, kept while they are large enough. */
typedef struct {
  GstBufferPool *pool; /* nullable */
  gsize size;
} WorkerCopies;

void worker_copies_clear (WorkerCopies *self);

/* Copies the memories of @buffer into a slab, one behind the other.
 *
 * @places: (out): where they lie; not the slab's number
 * @keeper: (out) (transfer full): has the slab */
gboolean worker_copies_make (WorkerCopies *self, GstAllocator *allocator,
    GstBuffer *buffer, SpdlPlaces *places, GstBuffer **keeper);

G_END_DECLS

#endif /* __WORKER_COPIES_H__ */
