/* gst-spdl: slabs for what does not lie in one
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/worker/workercopies.h"

#define ALIGNMENT 64

void
worker_copies_clear (WorkerCopies *self)
{
  if (!self->pool)
    return;
  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  self->size = 0;
}

/* Items differ in size, so that it grows by more than it must. */
static gboolean
make_pool (WorkerCopies *self, GstAllocator *allocator, gsize size)
{
  GstStructure *config;

  worker_copies_clear (self);
  /* A pool counts in 32 bits. */
  if (size > G_MAXUINT32)
    return FALSE;
  self->size = MIN (size + size / 4, G_MAXUINT32);
  self->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (self->pool);
  gst_buffer_pool_config_set_params (config, NULL, self->size, 0, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, NULL);
  if (gst_buffer_pool_set_config (self->pool, config) &&
      gst_buffer_pool_set_active (self->pool, TRUE))
    return TRUE;
  worker_copies_clear (self);
  return FALSE;
}

/* Returns how many bytes the slab needs. */
static gsize
lay_out (GstBuffer *buffer, SpdlPlaces *places)
{
  gsize end = 0;

  places->n_memories = gst_buffer_n_memory (buffer);
  for (guint i = 0; i < places->n_memories; i++) {
    places->offsets[i] = end;
    places->sizes[i] = gst_buffer_peek_memory (buffer, i)->size;
    end += (places->sizes[i] + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
  }
  return end;
}

static gboolean
copy (GstBuffer *buffer, GstBuffer *keeper, const SpdlPlaces *places)
{
  gsize at = 0;
  GstMapInfo map;

  if (!gst_buffer_map (keeper, &map, GST_MAP_WRITE))
    return FALSE;
  for (guint i = 0; i < places->n_memories; i++) {
    gst_buffer_extract (
        buffer, at, map.data + places->offsets[i], places->sizes[i]);
    at += places->sizes[i];
  }
  gst_buffer_unmap (keeper, &map);
  return TRUE;
}

gboolean
worker_copies_make (WorkerCopies *self, GstAllocator *allocator,
    GstBuffer *buffer, SpdlPlaces *places, GstBuffer **keeper)
{
  const gsize size = lay_out (buffer, places);

  if (size > self->size && !make_pool (self, allocator, size))
    return FALSE;
  if (gst_buffer_pool_acquire_buffer (self->pool, keeper, NULL) != GST_FLOW_OK)
    return FALSE;
  if (copy (buffer, *keeper, places))
    return TRUE;
  gst_clear_buffer (keeper);
  return FALSE;
}
