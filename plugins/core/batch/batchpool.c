/* gst-spdl: buffer pool of batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchpool.h"

#include "gst/spdl/common/tryallocator.h"

/* Slabs */

SpdlSlab *
spdl_slab_new (GstBuffer *buffer)
{
  SpdlSlab *self = g_new (SpdlSlab, 1);

  self->buffer = buffer;
  self->n_refs = 1;
  if (gst_buffer_map (buffer, &self->map, GST_MAP_READWRITE))
    return self;
  gst_buffer_unref (buffer);
  g_free (self);
  return NULL;
}

void
spdl_slab_unref (SpdlSlab *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  gst_buffer_unmap (self->buffer, &self->map);
  gst_buffer_unref (self->buffer);
  g_free (self);
}

GstMemory *
spdl_slab_get_part (SpdlSlab *self, gsize offset, gsize size)
{
  g_atomic_int_inc (&self->n_refs);
  return gst_memory_new_wrapped (0, self->map.data + offset, size, 0, size,
      self, (GDestroyNotify) spdl_slab_unref);
}

gboolean
spdl_batch_pool_fits (const SpdlBatchPool *self, gsize size)
{
  return self->size > 0 && size <= self->size;
}

void
spdl_batch_pool_clear (SpdlBatchPool *self)
{
  gst_clear_object (&self->allocator);
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  self->size = 0;
}

static GstAllocator *
get_allocator (const SpdlBatchPool *self)
{
  return self->allocator ? self->allocator : gst_spdl_try_allocator_get ();
}

/* Sets @config (transfer full). A pool may adjust it, which refuses it at
 * first. */
static gboolean
configure_pool (GstBufferPool *pool, GstStructure *config, GstCaps *caps,
    gsize size, guint min, guint max)
{
  if (gst_buffer_pool_set_config (pool, config))
    return TRUE;
  config = gst_buffer_pool_get_config (pool);
  if (gst_buffer_pool_config_validate_params (config, caps, size, min, max))
    return gst_buffer_pool_set_config (pool, config);
  gst_structure_free (config);
  return FALSE;
}

/* Activates @pool, or a new pool.
 *
 * @pool: (transfer full) (nullable): NULL: create one */
static gboolean
use_pool (SpdlBatchPool *self, GstBufferPool *pool, GstCaps *caps, gsize size,
    guint min, guint max)
{
  /* The downstream pool chooses its own allocator. */
  GstAllocator *allocator = pool ? self->allocator : get_allocator (self);
  GstStructure *config;

  self->pool = pool ? pool : gst_buffer_pool_new ();
  self->n_buffers = max > 0 ? max : min + SPDL_BATCH_POOL_SIZE;
  config = gst_buffer_pool_get_config (self->pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, self->n_buffers);
  gst_buffer_pool_config_set_allocator (config, allocator, &self->params);
  if (configure_pool (self->pool, config, caps, size, min, self->n_buffers) &&
      gst_buffer_pool_set_active (self->pool, TRUE)) {
    self->size = size;
    return TRUE;
  }
  gst_clear_object (&self->pool);
  return FALSE;
}

gboolean
spdl_batch_pool_negotiate (
    SpdlBatchPool *self, GstPad *srcpad, GstCaps *caps, gsize size)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool = NULL;
  guint offered = 0, min = 0, max = 0;

  spdl_batch_pool_clear (self);
  gst_allocation_params_init (&self->params);
  gst_pad_peer_query (srcpad, query);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (
        query, 0, &self->allocator, &self->params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &offered, &min, &max);
  gst_query_unref (query);

  self->params.align = MAX (self->params.align, SPDL_SLAB_ALIGNMENT - 1);
  if (size > G_MAXUINT32) {
    gst_clear_object (&pool);
    self->size = size;
    return TRUE;
  }
  return use_pool (self, pool, caps, MAX (size, offered), min, max) ||
         (pool && use_pool (self, NULL, caps, size, 0, 0));
}

GstFlowReturn
spdl_batch_pool_acquire (
    SpdlBatchPool *self, GstBuffer **buffer, gboolean *pooled)
{
  GstBufferPoolAcquireParams params = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT,
  };
  const GstFlowReturn ret =
      self->pool ? gst_buffer_pool_acquire_buffer (self->pool, buffer, &params)
                 : GST_FLOW_EOS;

  *pooled = ret == GST_FLOW_OK || !self->pool;
  if (ret != GST_FLOW_EOS)
    return ret;
  *buffer =
      gst_buffer_new_allocate (get_allocator (self), self->size, &self->params);
  return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
}
