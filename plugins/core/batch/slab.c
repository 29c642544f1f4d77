/* gst-spdl: a piece of memory for all tensors of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/slab.h"

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
