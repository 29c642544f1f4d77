/* gst-spdl: the pool that batches' memory comes from
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlbatchpool.h"

#include "spdlslab.h"

gboolean
spdl_batch_pool_fits (const SpdlBatchPool *self, gsize size)
{
  return self->pool && size <= self->size;
}

void
spdl_batch_pool_clear (SpdlBatchPool *self)
{
  if (!self->pool)
    return;
  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  self->size = 0;
}

/* @pool: (transfer full) (nullable): NULL makes a new one. */
static gboolean
use_pool (SpdlBatchPool *self, GstBufferPool *pool, GstCaps *caps, gsize size,
    guint min, GstAllocator *allocator, GstAllocationParams *params)
{
  GstStructure *config;

  self->pool = pool ? pool : gst_buffer_pool_new ();
  self->size = size;
  params->align = MAX (params->align, SPDL_SLAB_ALIGNMENT - 1);
  config = gst_buffer_pool_get_config (self->pool);
  /* Without an upper bound: a trainer may keep what it likes. */
  gst_buffer_pool_config_set_params (config, caps, size, min, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, params);
  if (gst_buffer_pool_set_config (self->pool, config) &&
      gst_buffer_pool_set_active (self->pool, TRUE))
    return TRUE;
  spdl_batch_pool_clear (self);
  return FALSE;
}

gboolean
spdl_batch_pool_negotiate (
    SpdlBatchPool *self, GstPad *srcpad, GstCaps *caps, gsize size)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  GstBufferPool *pool = NULL;
  guint offered = 0, min = 0;
  gboolean ret;

  spdl_batch_pool_clear (self);
  gst_allocation_params_init (&params);
  gst_pad_peer_query (srcpad, query);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &offered, &min, NULL);
  gst_query_unref (query);

  ret =
      use_pool (self, pool, caps, MAX (size, offered), min, allocator, &params);
  if (!ret && pool)
    ret = use_pool (self, NULL, caps, size, 0, allocator, &params);
  if (allocator)
    gst_object_unref (allocator);
  return ret;
}
