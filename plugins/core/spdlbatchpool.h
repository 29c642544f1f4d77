/* gst-spdl: the pool that batches' memory comes from
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_BATCH_POOL_H__
#define __SPDL_BATCH_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Downstream's pool where it offers one (page-locked memory, say), else one of
 * our own. Kept while it is large enough. */
typedef struct {
  GstBufferPool *pool; /* NULL: none yet */
  gsize size;          /* of its buffers */
} SpdlBatchPool;

/* Whether there is a pool, with buffers of at least @size bytes. */
gboolean spdl_batch_pool_fits (const SpdlBatchPool *self, gsize size);

/* Asks downstream of @srcpad anew, with the caps of a full batch. */
gboolean spdl_batch_pool_negotiate (
    SpdlBatchPool *self, GstPad *srcpad, GstCaps *caps, gsize size);

/* Lets go of the pool; buffers that are out keep it. */
void spdl_batch_pool_clear (SpdlBatchPool *self);

G_END_DECLS

#endif /* __SPDL_BATCH_POOL_H__ */
