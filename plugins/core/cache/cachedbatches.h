/* gst-spdl: batches that are kept, to be handed out again and again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_CACHED_BATCHES_H__
#define __SPDL_CACHED_BATCHES_H__

#include "plugins/core/batch/batchpool.h"

G_BEGIN_DECLS

/* What is kept and what is handed out are copies, since whoever gets a batch
 * may write into it. The copies' memory comes from a pool. Memory that cannot
 * be mapped is not copied but shared. Under the stream lock. */
typedef struct {
  GPtrArray *batches; /* GstSample */
  guint next;
  SpdlBatchPool pool;
} SpdlCachedBatches;

void spdl_cached_batches_init (SpdlCachedBatches *self);
void spdl_cached_batches_clear (SpdlCachedBatches *self);

/* Forgets the batches, and lets go of the pool. */
void spdl_cached_batches_reset (SpdlCachedBatches *self);

/* @caps: (nullable): of @batch, which is copied. Returns FALSE where there is
 * no memory for it. */
gboolean spdl_cached_batches_add (
    SpdlCachedBatches *self, GstBuffer *batch, GstCaps *caps);

guint spdl_cached_batches_get_n (const SpdlCachedBatches *self);

/* The next one, and behind the last the first again.
 *
 * @srcpad: downstream of it is asked for a pool.
 * @batch: (out) (transfer full): marked as cached
 * @caps: (out) (transfer none) (nullable) */
GstFlowReturn spdl_cached_batches_take (
    SpdlCachedBatches *self, GstPad *srcpad, GstBuffer **batch, GstCaps **caps);

G_END_DECLS

#endif /* __SPDL_CACHED_BATCHES_H__ */
