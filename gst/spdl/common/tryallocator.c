/* gst-spdl: allocator of system memory that may fail
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/tryallocator.h"

#include <string.h>

/* The data follows in the same block, unless the memory is a part of another
 * one. */
typedef struct {
  GstMemory memory;
  guint8 *data;
} TryMemory;

#define GST_TYPE_SPDL_TRY_ALLOCATOR (gst_spdl_try_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlTryAllocator, gst_spdl_try_allocator, GST,
    SPDL_TRY_ALLOCATOR, GstAllocator)

struct _GstSpdlTryAllocator {
  GstAllocator parent;
};

G_DEFINE_FINAL_TYPE (
    GstSpdlTryAllocator, gst_spdl_try_allocator, GST_TYPE_ALLOCATOR)

/* The data is aligned to @align + 1. Returns NULL if memory is exhausted. */
static TryMemory *
make_memory (GstAllocator *allocator, GstMemoryFlags flags, gsize maxsize,
    gsize align, gsize offset, gsize size)
{
  TryMemory *self;

  align |= gst_memory_alignment;
  if (maxsize > G_MAXSSIZE - sizeof *self - align ||
      !(self = g_try_malloc (sizeof *self + maxsize + align)))
    return NULL;
  gst_memory_init (GST_MEMORY_CAST (self), flags, allocator, NULL, maxsize,
      align, offset, size);
  self->data = (guint8 *) (self + 1);
  self->data += -(gsize) self->data & align;
  return self;
}

static GstMemory *
gst_spdl_try_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  const gsize maxsize = size + params->prefix + params->padding;
  TryMemory *self;

  if (maxsize < size)
    return NULL;
  self = make_memory (
      allocator, params->flags, maxsize, params->align, params->prefix, size);
  if (!self)
    return NULL;
  if (params->prefix > 0 && (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED))
    memset (self->data, 0, params->prefix);
  if (params->padding > 0 && (params->flags & GST_MEMORY_FLAG_ZERO_PADDED))
    memset (self->data + params->prefix + size, 0, params->padding);
  return GST_MEMORY_CAST (self);
}

static void
gst_spdl_try_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

static gpointer
map_memory (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((TryMemory *) memory)->data;
}

static void
unmap_memory (GstMemory *memory)
{
}

static GstMemory *
copy_memory (GstMemory *memory, gssize offset, gssize size)
{
  TryMemory *copy;

  if (size == -1)
    size = memory->size > (gsize) offset ? memory->size - offset : 0;
  copy = make_memory (memory->allocator, 0, size, memory->align, 0, size);
  if (!copy)
    return NULL;
  memcpy (
      copy->data, ((TryMemory *) memory)->data + memory->offset + offset, size);
  return GST_MEMORY_CAST (copy);
}

static GstMemory *
share_memory (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *parent = memory->parent ? memory->parent : memory;
  TryMemory *self = g_new (TryMemory, 1);

  if (size == -1)
    size = memory->size - offset;
  gst_memory_init (GST_MEMORY_CAST (self),
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, parent, memory->maxsize, memory->align,
      memory->offset + offset, size);
  self->data = ((TryMemory *) memory)->data;
  return GST_MEMORY_CAST (self);
}

/* Returns TRUE if @next directly follows @memory in the same block. */
static gboolean
is_span (GstMemory *memory, GstMemory *next, gsize *offset)
{
  const guint8 *data = ((TryMemory *) memory)->data;

  if (offset)
    *offset = memory->offset - memory->parent->offset;
  return data + memory->offset + memory->size ==
         ((TryMemory *) next)->data + next->offset;
}

static void
gst_spdl_try_allocator_class_init (GstSpdlTryAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  allocator_class->alloc = gst_spdl_try_allocator_alloc;
  allocator_class->free = gst_spdl_try_allocator_free;
}

static void
gst_spdl_try_allocator_init (GstSpdlTryAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  /* Lets callers recognize it as system memory. */
  allocator->mem_type = GST_ALLOCATOR_SYSMEM;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_copy = copy_memory;
  allocator->mem_share = share_memory;
  allocator->mem_is_span = is_span;
}

GstAllocator *
gst_spdl_try_allocator_get (void)
{
  static gsize allocator = 0;

  if (g_once_init_enter (&allocator)) {
    GstObject *made = g_object_new (GST_TYPE_SPDL_TRY_ALLOCATOR, NULL);

    /* Lives as long as the process, like GStreamer's allocators. */
    GST_OBJECT_FLAG_SET (made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&allocator, (gsize) gst_object_ref_sink (made));
  }
  return (GstAllocator *) allocator;
}

GstBuffer *
gst_spdl_buffer_try_new (gsize size)
{
  GstMemory *memory =
      gst_allocator_alloc (gst_spdl_try_allocator_get (), size, NULL);
  GstBuffer *buffer;

  if (!memory)
    return NULL;
  buffer = gst_buffer_new ();
  gst_buffer_append_memory (buffer, memory);
  return buffer;
}

static GstMemory *
copy_bytes (GstMemory *memory)
{
  const GstAllocationParams params = { .align = memory->align };
  GstMemory *copy = NULL;
  GstMapInfo from, to;

  if (!gst_memory_map (memory, &from, GST_MAP_READ))
    return NULL;
  copy = gst_allocator_alloc (gst_spdl_try_allocator_get (), from.size,
      (GstAllocationParams *) &params);
  if (copy && gst_memory_map (copy, &to, GST_MAP_WRITE)) {
    memcpy (to.data, from.data, from.size);
    gst_memory_unmap (copy, &to);
  }
  gst_memory_unmap (memory, &from);
  return copy;
}

GstBuffer *
gst_spdl_buffer_try_copy (GstBuffer *buffer)
{
  GstBuffer *copy = gst_buffer_new ();

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = copy_bytes (gst_buffer_peek_memory (buffer, i));

    if (!memory) {
      gst_buffer_unref (copy);
      return NULL;
    }
    gst_buffer_append_memory (copy, memory);
  }
  gst_buffer_copy_into (copy, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  return copy;
}

GstBufferPool *
gst_spdl_try_pool_new (GstCaps *caps, gsize size)
{
  g_autoptr (GstBufferPool) pool = NULL;
  GstStructure *config;

  /* GstBufferPool has a 32-bit size. */
  if (size > G_MAXUINT32)
    return NULL;
  pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_config_set_allocator (
      config, gst_spdl_try_allocator_get (), NULL);
  if (!gst_buffer_pool_set_config (pool, config) ||
      !gst_buffer_pool_set_active (pool, TRUE))
    return NULL;
  return g_steal_pointer (&pool);
}
