/* gst-spdl: allocator of CUDA device memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlcudaallocator
 * @title: GstSpdlCudaAllocator
 * @short_description: allocator of CUDA device memory
 *
 * Allocates the memory of the batches that `spdlcudaupload` sends.
 *
 * Since: 0.1
 */

#include "gst/spdl/cuda/cudablock.h"

#include "gst/spdl/gstspdlcudamemory.h"

G_DEFINE_TYPE (
    GstSpdlCudaAllocator, gst_spdl_cuda_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *
gst_spdl_cuda_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstSpdlCudaAllocator *self = GST_SPDL_CUDA_ALLOCATOR (allocator);
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (self->cudart, self->device_id);
  GstSpdlCudaBlock *block = gst_spdl_cuda_block_take (self, size, NULL);
  GstMemory *memory = NULL;

  if (block && gst_spdl_cuda_block_begin (block, NULL) &&
      gst_spdl_cuda_block_end (block, NULL))
    memory = gst_spdl_cuda_block_get_part (block, 0, size);
  g_clear_pointer (&block, gst_spdl_cuda_block_unref);
  gst_spdl_cudart_leave (self->cudart, saved);
  return memory;
}

static void
gst_spdl_cuda_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  gst_spdl_cuda_memory_free (memory);
}

static void
close_device (gpointer user_data)
{
  GstSpdlCudaAllocator *self = user_data;

  gst_spdl_cuda_block_free_all (self);
  if (self->stream &&
      self->cudart->cudaStreamDestroy (self->stream) != cudaSuccess)
    self->cudart->cudaGetLastError ();
}

/* May run in any thread that drops the last memory, such as one of the
 * trainer. */
static void
gst_spdl_cuda_allocator_finalize (GObject *object)
{
  GstSpdlCudaAllocator *self = GST_SPDL_CUDA_ALLOCATOR (object);

  gst_spdl_cudart_call (self->cudart, self->device_id, close_device, self);
  spdl_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_cuda_allocator_parent_class)->finalize (object);
}

static void
gst_spdl_cuda_allocator_class_init (GstSpdlCudaAllocatorClass *klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  allocator_class->alloc = gst_spdl_cuda_allocator_alloc;
  allocator_class->free = gst_spdl_cuda_allocator_free;
  G_OBJECT_CLASS (klass)->finalize = gst_spdl_cuda_allocator_finalize;
}

static void
gst_spdl_cuda_allocator_init (GstSpdlCudaAllocator *self)
{
  spdl_mutex_init (&self->lock);
  g_queue_init (&self->free);
  gst_spdl_cuda_memory_init_allocator (GST_ALLOCATOR (self));
}

static gboolean
is_ordered (const GstSpdlCudart *cudart, gint device_id)
{
  gint value = 0;

  if (!cudart->cudaMallocAsync || !cudart->cudaFreeAsync)
    return FALSE;
  if (cudart->cudaDeviceGetAttribute (
          &value, cudaDevAttrMemoryPoolsSupported, device_id) != cudaSuccess)
    cudart->cudaGetLastError ();
  return value != 0;
}

typedef struct {
  GstSpdlCudaAllocator *self;
  GError **error;
  gboolean ok;
} Opening;

static void
open_stream (gpointer user_data)
{
  Opening *opening = user_data;
  GstSpdlCudaAllocator *self = opening->self;
  const GstSpdlCudart *cudart = self->cudart;

  opening->ok = gst_spdl_cudart_check (cudart,
      cudart->cudaStreamCreateWithFlags (&self->stream, cudaStreamNonBlocking),
      "Failed to create a CUDA stream", opening->error);
}

/**
 * gst_spdl_cuda_allocator_new:
 * @device_id: number of the CUDA device
 * @error: (nullable): %GST_LIBRARY_ERROR or %GST_RESOURCE_ERROR
 *
 * Creates an allocator with a new stream.
 *
 * Returns: (transfer full) (nullable): the allocator, or %NULL with @error set
 *     if the CUDA Runtime, the driver or the device is missing
 *
 * Since: 0.1
 */
GstAllocator *
gst_spdl_cuda_allocator_new (gint device_id, GError **error)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (error);
  GstSpdlCudaAllocator *self;
  Opening opening = { .error = error };

  if (!cudart || !gst_spdl_cudart_check_device (cudart, device_id, error))
    return NULL;
  self = g_object_new (GST_TYPE_SPDL_CUDA_ALLOCATOR, NULL);
  gst_object_ref_sink (self);
  self->cudart = cudart;
  self->device_id = device_id;
  self->ordered = is_ordered (cudart, device_id);
  opening.self = self;
  gst_spdl_cudart_call (cudart, device_id, open_stream, &opening);
  if (!opening.ok)
    gst_clear_object (&self);
  return GST_ALLOCATOR (self);
}

/**
 * gst_spdl_cuda_allocator_get_device_id:
 * @allocator: an allocator
 *
 * Gets the number of the device.
 *
 * Returns: the number of the device
 *
 * Since: 0.1
 */
gint
gst_spdl_cuda_allocator_get_device_id (GstSpdlCudaAllocator *allocator)
{
  g_return_val_if_fail (GST_IS_SPDL_CUDA_ALLOCATOR (allocator), -1);

  return allocator->device_id;
}

/**
 * gst_spdl_cuda_allocator_get_stream: (skip)
 * @allocator: an allocator
 *
 * Gets the stream on which memory of the allocator is written.
 *
 * Returns: (transfer none): the `cudaStream_t`, valid as long as @allocator
 *
 * Since: 0.1
 */
gpointer
gst_spdl_cuda_allocator_get_stream (GstSpdlCudaAllocator *allocator)
{
  g_return_val_if_fail (GST_IS_SPDL_CUDA_ALLOCATOR (allocator), NULL);

  return allocator->stream;
}
