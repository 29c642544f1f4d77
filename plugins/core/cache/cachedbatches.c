/* gst-spdl: batches that are kept, to be handed out again and again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/cache/cachedbatches.h"

#include <gst/spdl/spdl.h>

#include <string.h>

#include "gst/spdl/common/cached.h"
#include "gst/spdl/common/tryallocator.h"
#include "plugins/core/batch/slab.h"

void
spdl_cached_batches_init (SpdlCachedBatches *self)
{
  *self = (SpdlCachedBatches){ 0 };
  self->batches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_sample_unref);
}

void
spdl_cached_batches_clear (SpdlCachedBatches *self)
{
  spdl_cached_batches_reset (self);
  g_clear_pointer (&self->batches, g_ptr_array_unref);
}

void
spdl_cached_batches_reset (SpdlCachedBatches *self)
{
  g_ptr_array_set_size (self->batches, 0);
  self->next = 0;
  spdl_batch_pool_clear (&self->pool);
}

static gboolean
can_be_mapped (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    if (GST_MEMORY_IS_NOT_MAPPABLE (gst_buffer_peek_memory (buffer, i)))
      return FALSE;
  return TRUE;
}

gboolean
spdl_cached_batches_add (
    SpdlCachedBatches *self, GstBuffer *batch, GstCaps *caps)
{
  GstBuffer *kept = can_be_mapped (batch) ? gst_spdl_buffer_try_copy (batch)
                                          : gst_buffer_copy (batch);
  GstSpdlBatchMeta *meta;

  if (!kept)
    return FALSE;
  /* Where to begin after it is for the sink to say, later on. */
  if ((meta = gst_spdl_buffer_get_batch_meta (kept)))
    g_clear_pointer (&meta->resume_state, g_free);
  gst_spdl_buffer_mark_cached (kept);
  g_ptr_array_add (self->batches, gst_sample_new (kept, caps, NULL, NULL));
  gst_buffer_unref (kept);
  return TRUE;
}

guint
spdl_cached_batches_get_n (const SpdlCachedBatches *self)
{
  return self->batches->len;
}

static gsize
align (gsize size)
{
  return (size + SPDL_SLAB_ALIGNMENT - 1) / SPDL_SLAB_ALIGNMENT *
         SPDL_SLAB_ALIGNMENT;
}

/* Bytes for all tensors, each from where it may begin. */
static gsize
lay_out (GstBuffer *batch)
{
  gsize size = 0;

  for (guint i = 0; i < gst_buffer_n_memory (batch); i++)
    size += align (
        gst_memory_get_sizes (gst_buffer_peek_memory (batch, i), NULL, NULL));
  return size;
}

static GstFlowReturn
acquire_slab (SpdlCachedBatches *self, GstPad *srcpad, GstCaps *caps,
    gsize size, SpdlSlab **slab)
{
  const gboolean asked = gst_pad_check_reconfigure (srcpad);
  GstBuffer *buffer = NULL;
  GstFlowReturn ret;
  gboolean pooled;

  if ((asked || !spdl_batch_pool_fits (&self->pool, size)) &&
      !spdl_batch_pool_negotiate (&self->pool, srcpad, caps, size))
    return GST_FLOW_ERROR;
  ret = spdl_batch_pool_acquire (&self->pool, &buffer, &pooled);
  if (ret == GST_FLOW_OK && !(*slab = spdl_slab_new (buffer)))
    ret = GST_FLOW_ERROR;
  return ret;
}

/* Moves tensor @i of @copy into the slab. */
static gboolean
copy_tensor (GstBuffer *copy, guint i, SpdlSlab *slab, gsize offset)
{
  GstMemory *memory = gst_buffer_peek_memory (copy, i);
  GstMapInfo map;

  if (!gst_memory_map (memory, &map, GST_MAP_READ))
    return FALSE;
  memcpy (slab->map.data + offset, map.data, map.size);
  const gsize size = map.size;
  gst_memory_unmap (memory, &map);
  gst_buffer_replace_memory (copy, i, spdl_slab_get_part (slab, offset, size));
  return TRUE;
}

/* All of @kept but its memory is in @copy already. */
static GstFlowReturn
copy_tensors (
    SpdlCachedBatches *self, GstPad *srcpad, GstSample *kept, GstBuffer *copy)
{
  const gsize size = lay_out (copy);
  SpdlSlab *slab = NULL;
  gsize offset = 0;
  GstFlowReturn ret;

  if (size == 0)
    return GST_FLOW_OK;
  ret = acquire_slab (self, srcpad, gst_sample_get_caps (kept), size, &slab);
  for (guint i = 0; i < gst_buffer_n_memory (copy) && ret == GST_FLOW_OK; i++) {
    const gsize at = offset;

    offset += align (
        gst_memory_get_sizes (gst_buffer_peek_memory (copy, i), NULL, NULL));
    if (!copy_tensor (copy, i, slab, at))
      ret = GST_FLOW_ERROR;
  }
  g_clear_pointer (&slab, spdl_slab_unref);
  return ret;
}

GstFlowReturn
spdl_cached_batches_take (
    SpdlCachedBatches *self, GstPad *srcpad, GstBuffer **batch, GstCaps **caps)
{
  GstSample *kept = g_ptr_array_index (self->batches, self->next);
  GstBuffer *copy = gst_buffer_copy (gst_sample_get_buffer (kept));
  GstFlowReturn ret = GST_FLOW_OK;

  self->next = (self->next + 1) % self->batches->len;
  if (can_be_mapped (copy))
    ret = copy_tensors (self, srcpad, kept, copy);
  if (ret != GST_FLOW_OK)
    gst_clear_buffer (&copy);
  *batch = copy;
  *caps = gst_sample_get_caps (kept);
  return ret;
}
