/* gst-spdl: allocator of shared memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/memfdallocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include "gst/spdl/wire/memfd.h"

#define MEMORY_TYPE "SpdlMemfd"

struct _SpdlMemfdAllocator {
  GstAllocator parent;

  void (*retired) (guint32 id, gpointer user_data);
  gpointer user_data;

  SpdlMutex lock;
  GPtrArray *slabs; /* of SpdlMemfd, not owned; protected by the lock */
  guint32 next_id;
};

G_DEFINE_FINAL_TYPE (
    SpdlMemfdAllocator, spdl_memfd_allocator, GST_TYPE_ALLOCATOR)

static SpdlMemfd *
make_slab (gsize size)
{
  const int fd = spdl_memfd_open (size);
  SpdlMemfd *self;
  gpointer data;

  if (fd < 0)
    return NULL;
  data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    close (fd);
    return NULL;
  }
  self = g_new0 (SpdlMemfd, 1);
  self->fd = fd;
  self->data = data;
  return self;
}

static GstMemory *
spdl_memfd_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  SpdlMemfdAllocator *self = SPDL_MEMFD_ALLOCATOR (allocator);
  const gsize page = sysconf (_SC_PAGESIZE);
  const gsize wanted = size + params->prefix + params->padding;
  SpdlMemfd *slab;
  gsize maxsize;

  if (wanted > G_MAXSSIZE - page)
    return NULL;
  maxsize = MAX (wanted + page - 1, page) & ~(page - 1);
  if (!(slab = make_slab (maxsize)))
    return NULL;
  gst_memory_init (GST_MEMORY_CAST (slab), params->flags, allocator, NULL,
      maxsize, params->align, params->prefix, size);
  spdl_mutex_lock (&self->lock);
  slab->id = self->next_id++;
  g_ptr_array_add (self->slabs, slab);
  spdl_mutex_unlock (&self->lock);
  return GST_MEMORY_CAST (slab);
}

static void
spdl_memfd_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  SpdlMemfdAllocator *self = SPDL_MEMFD_ALLOCATOR (allocator);
  SpdlMemfd *slab = (SpdlMemfd *) memory;

  if (!memory->parent) {
    spdl_mutex_lock (&self->lock);
    g_ptr_array_remove_fast (self->slabs, slab);
    spdl_mutex_unlock (&self->lock);
    munmap (slab->data, memory->maxsize);
    if (slab->fd >= 0)
      close (slab->fd);
    else
      self->retired (slab->id, self->user_data);
  }
  g_free (slab);
}

SpdlMemfd *
spdl_memfd_allocator_find (
    SpdlMemfdAllocator *self, const guint8 *data, gsize size)
{
  SpdlMemfd *found = NULL;

  spdl_mutex_lock (&self->lock);
  for (guint i = 0; i < self->slabs->len && !found; i++) {
    SpdlMemfd *slab = g_ptr_array_index (self->slabs, i);
    const gsize maxsize = slab->memory.maxsize;

    if (data >= slab->data && data < slab->data + maxsize &&
        size <= (gsize) (slab->data + maxsize - data))
      found = slab;
  }
  spdl_mutex_unlock (&self->lock);
  return found;
}

static gpointer
map_slab (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  return ((SpdlMemfd *) memory)->data;
}

static void
unmap_slab (GstMemory *memory)
{
}

static GstMemory *
share_slab (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *parent = memory->parent ? memory->parent : memory;
  SpdlMemfd *self = g_new0 (SpdlMemfd, 1);

  if (size == -1)
    size = memory->size - offset;
  self->fd = -1;
  self->data = ((SpdlMemfd *) memory)->data;
  gst_memory_init (GST_MEMORY_CAST (self),
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, parent, memory->maxsize, memory->align,
      memory->offset + offset, size);
  return GST_MEMORY_CAST (self);
}

static void
spdl_memfd_allocator_finalize (GObject *object)
{
  SpdlMemfdAllocator *self = SPDL_MEMFD_ALLOCATOR (object);

  g_ptr_array_unref (self->slabs);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (spdl_memfd_allocator_parent_class)->finalize (object);
}

static void
spdl_memfd_allocator_class_init (SpdlMemfdAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = spdl_memfd_allocator_finalize;
  allocator_class->alloc = spdl_memfd_allocator_alloc;
  allocator_class->free = spdl_memfd_allocator_free;
}

static void
spdl_memfd_allocator_init (SpdlMemfdAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  allocator->mem_type = MEMORY_TYPE;
  allocator->mem_map = map_slab;
  allocator->mem_unmap = unmap_slab;
  allocator->mem_share = share_slab;
  GST_OBJECT_FLAG_SET (allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  self->slabs = g_ptr_array_new ();
  spdl_mutex_init (&self->lock);
}

SpdlMemfdAllocator *
spdl_memfd_allocator_new (
    void (*retired) (guint32 id, gpointer user_data), gpointer user_data)
{
  SpdlMemfdAllocator *self = g_object_new (SPDL_TYPE_MEMFD_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  self->retired = retired;
  self->user_data = user_data;
  return self;
}
