/* gst-spdl: CUDA device memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlcudamemory
 * @title: GstSpdlCudaMemory
 * @short_description: CUDA device memory
 *
 * To use the memory on the device, let each stream wait with
 * gst_spdl_cuda_memory_wait() and get the address. The stream waits, the CPU
 * does not. The memory may be unreferenced as soon as work was queued on the
 * stream; it is reused when the streams that waited for it have finished this
 * work.
 *
 * Mapping the memory copies it to the CPU and waits for the copy; if it was
 * mapped for writing, unmapping copies it back. It is marked
 * %GST_MEMORY_FLAG_NOT_MAPPABLE, so that no element maps it by accident.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlcudamemory.h"

#include "gst/spdl/cuda/cudablock.h"

struct _GstSpdlCudaMemory {
  GstMemory memory;
  GstSpdlCudaBlock *block; /* owned */
  gsize start;             /* offset in the block */

  /* Guarded by the lock of the block. */
  guint n_maps;
  gboolean written;
  gpointer copy; /* in host memory, while it is mapped */
};

static GstSpdlCudaMemory *
make_memory (GstSpdlCudaBlock *block, GstMemory *parent, gsize start,
    gsize maxsize, gsize offset, gsize size)
{
  GstSpdlCudaMemory *self = g_new0 (GstSpdlCudaMemory, 1);

  gst_memory_init (GST_MEMORY_CAST (self), GST_MEMORY_FLAG_NOT_MAPPABLE,
      GST_ALLOCATOR (block->allocator), parent, maxsize, 0, offset, size);
  self->block = gst_spdl_cuda_block_ref (block);
  g_atomic_int_inc (&block->n_parts);
  self->start = start;
  return self;
}

GstMemory *
gst_spdl_cuda_block_get_part (GstSpdlCudaBlock *self, gsize offset, gsize size)
{
  return GST_MEMORY_CAST (make_memory (self, NULL, offset, size, 0, size));
}

void
gst_spdl_cuda_memory_free (GstMemory *memory)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;

  gst_spdl_cuda_block_drop_part (self->block);
  g_free (self->copy);
  g_free (self);
}

/* Creates a memory for a part of the same block. It has no parent, because it
 * holds a reference to the block. */
static GstMemory *
share_memory (GstMemory *memory, gssize offset, gssize size)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;

  if (size == -1)
    size = memory->size - offset;
  return GST_MEMORY_CAST (make_memory (self->block, NULL, self->start,
      memory->maxsize, memory->offset + offset, size));
}

/* Mapping in host memory */

/* Copies and blocks until the copy has finished. The device of the block must
 * be current. */
static gboolean
copy_and_wait (GstSpdlCudaMemory *self, gpointer to, gconstpointer from,
    enum cudaMemcpyKind kind, GError **error)
{
  const GstSpdlCudaAllocator *allocator = self->block->allocator;
  const GstSpdlCudart *cudart = allocator->cudart;

  return gst_spdl_cudart_check (cudart,
             cudart->cudaMemcpyAsync (
                 to, from, self->memory.maxsize, kind, allocator->stream),
             "Failed to copy a tensor", error) &&
         gst_spdl_cudart_check (cudart,
             cudart->cudaStreamSynchronize (allocator->stream),
             "Failed to wait for the copy of a tensor", error);
}

static gboolean
fetch_from_device (GstSpdlCudaMemory *self)
{
  g_autoptr (GError) error = NULL;

  if (self->block->failed)
    return FALSE;
  self->copy = g_try_malloc (MAX (self->memory.maxsize, 1));
  if (!self->copy)
    return FALSE;
  if (copy_and_wait (self, self->copy, self->block->data + self->start,
          cudaMemcpyDeviceToHost, &error))
    return TRUE;
  GST_WARNING ("%s", error->message);
  g_clear_pointer (&self->copy, g_free);
  return FALSE;
}

static gpointer
map_memory (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;
  const GstSpdlCudaAllocator *allocator = self->block->allocator;
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (allocator->cudart, allocator->device_id);
  gpointer copy = NULL;

  spdl_mutex_lock (&self->block->lock);
  if (self->copy || fetch_from_device (self)) {
    copy = self->copy;
    self->n_maps++;
    self->written |= (flags & GST_MAP_WRITE) != 0;
  }
  spdl_mutex_unlock (&self->block->lock);
  gst_spdl_cudart_leave (allocator->cudart, saved);
  return copy;
}

/* Copies written data back to the device. Streams that wait from now on see
 * it. */
static void
bring_back (GstSpdlCudaMemory *self)
{
  g_autoptr (GError) error = NULL;

  if (!copy_and_wait (self, self->block->data + self->start, self->copy,
          cudaMemcpyHostToDevice, &error) ||
      !gst_spdl_cuda_block_end (self->block, &error)) {
    GST_WARNING ("%s", error->message);
    self->block->failed = TRUE;
  }
}

static void
unmap_memory (GstMemory *memory)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;
  const GstSpdlCudaAllocator *allocator = self->block->allocator;
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (allocator->cudart, allocator->device_id);

  spdl_mutex_lock (&self->block->lock);
  if (--self->n_maps == 0) {
    if (self->written)
      bring_back (self);
    self->written = FALSE;
    g_clear_pointer (&self->copy, g_free);
  }
  spdl_mutex_unlock (&self->block->lock);
  gst_spdl_cudart_leave (allocator->cudart, saved);
}

/* Copies within the device. */
static gboolean
copy_part (GstSpdlCudaBlock *to, GstSpdlCudaMemory *from, gsize offset,
    gsize size, GError **error)
{
  const GstSpdlCudaAllocator *allocator = to->allocator;
  const GstSpdlCudart *cudart = allocator->cudart;

  return gst_spdl_cuda_block_wait (
             from->block, allocator->stream, NULL, error) &&
         gst_spdl_cuda_block_begin (to, error) &&
         gst_spdl_cudart_check (cudart,
             cudart->cudaMemcpyAsync (to->data,
                 from->block->data + from->start + offset, size,
                 cudaMemcpyDeviceToDevice, allocator->stream),
             "Failed to copy a tensor", error) &&
         gst_spdl_cuda_block_end (to, error);
}

static GstMemory *
copy_memory (GstMemory *memory, gssize offset, gssize size)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;
  GstSpdlCudaAllocator *allocator = self->block->allocator;
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (allocator->cudart, allocator->device_id);
  const gsize n = size == -1 ? memory->size - offset : (gsize) size;
  GstSpdlCudaBlock *block = gst_spdl_cuda_block_take (allocator, n, NULL);
  GstMemory *copy = NULL;

  if (block && copy_part (block, self, memory->offset + offset, n, NULL))
    copy = gst_spdl_cuda_block_get_part (block, 0, n);
  g_clear_pointer (&block, gst_spdl_cuda_block_unref);
  gst_spdl_cudart_leave (allocator->cudart, saved);
  return copy;
}

void
gst_spdl_cuda_memory_init_allocator (GstAllocator *allocator)
{
  allocator->mem_type = GST_SPDL_CUDA_MEMORY_TYPE;
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
  allocator->mem_copy = copy_memory;
}

/* Access on the device */

/**
 * gst_spdl_is_cuda_memory:
 * @memory: a memory
 *
 * Checks whether a memory is a #GstSpdlCudaMemory.
 *
 * Returns: %TRUE if @memory is on a CUDA device
 *
 * Since: 0.1
 */
gboolean
gst_spdl_is_cuda_memory (GstMemory *memory)
{
  g_return_val_if_fail (memory != NULL, FALSE);

  return GST_IS_SPDL_CUDA_ALLOCATOR (memory->allocator);
}

/**
 * gst_spdl_cuda_memory_get_device_id:
 * @memory: a #GstSpdlCudaMemory
 *
 * Gets the number of the device.
 *
 * Returns: the number of the device
 *
 * Since: 0.1
 */
gint
gst_spdl_cuda_memory_get_device_id (GstMemory *memory)
{
  g_return_val_if_fail (gst_spdl_is_cuda_memory (memory), -1);

  return ((GstSpdlCudaMemory *) memory)->block->allocator->device_id;
}

/**
 * gst_spdl_cuda_memory_get_address: (skip)
 * @memory: a #GstSpdlCudaMemory
 *
 * Gets the address on the device. Call gst_spdl_cuda_memory_wait() before the
 * content is used.
 *
 * Returns: (transfer none): the address, valid as long as @memory
 *
 * Since: 0.1
 */
gpointer
gst_spdl_cuda_memory_get_address (GstMemory *memory)
{
  GstSpdlCudaMemory *self = (GstSpdlCudaMemory *) memory;

  g_return_val_if_fail (gst_spdl_is_cuda_memory (memory), NULL);

  return self->block->data + self->start + memory->offset;
}

/**
 * gst_spdl_cuda_memory_wait: (skip)
 * @memory: a #GstSpdlCudaMemory
 * @stream: (nullable): a `cudaStream_t`; %NULL: the legacy default stream. It
 *     must exist until @memory is unreferenced
 * @error: (nullable): %GST_RESOURCE_ERROR
 *
 * Makes a stream wait for the content. The function returns at once and may be
 * called from any thread. Work that is queued on the stream afterwards sees the
 * content. The memory is reused only after all work that was queued before the
 * last unref of @memory is done.
 *
 * Returns: %FALSE with @error set if the content is not available or @stream is
 *     invalid
 *
 * Since: 0.1
 */
gboolean
gst_spdl_cuda_memory_wait (GstMemory *memory, gpointer stream, GError **error)
{
  g_return_val_if_fail (gst_spdl_is_cuda_memory (memory), FALSE);

  return gst_spdl_cuda_block_wait (
      ((GstSpdlCudaMemory *) memory)->block, stream, NULL, error);
}

gboolean
gst_spdl_cuda_memory_wait_by (
    GstMemory *memory, GstSpdlCudaAllocator *allocator, GError **error)
{
  return gst_spdl_cuda_block_wait (((GstSpdlCudaMemory *) memory)->block,
      allocator->stream, allocator, error);
}
