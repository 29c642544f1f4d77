/* gst-spdl: block of device memory and its synchronization events
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/cuda/cudablock.h"

#include "gst/spdl/cuda/cudaallocator-private.h"

/* Creates an event on which waiting threads sleep rather than spin. */
static gboolean
make_event (const GstSpdlCudart *cudart, cudaEvent_t *event, GError **error)
{
  return gst_spdl_cudart_check (cudart,
      cudart->cudaEventCreateWithFlags (event, cudaEventBlockingSync),
      "Failed to create a CUDA event", error);
}

GstSpdlCudaBlock *
gst_spdl_cuda_block_new (
    GstSpdlCudaAllocator *allocator, gpointer data, gsize size, GError **error)
{
  const GstSpdlCudart *cudart = allocator->cudart;
  GstSpdlCudaBlock *self = g_new0 (GstSpdlCudaBlock, 1);

  self->data = data;
  self->size = size;
  self->users = g_array_new (FALSE, FALSE, sizeof (GstSpdlCudaUser));
  self->left = g_array_new (FALSE, FALSE, sizeof (cudaEvent_t));
  spdl_mutex_init (&self->lock);
  if (make_event (cudart, &self->begun, error) &&
      make_event (cudart, &self->ready, error))
    return self;
  gst_spdl_cuda_block_free (self, cudart);
  return NULL;
}

static void
free_event (const GstSpdlCudart *cudart, cudaEvent_t event)
{
  if (event && cudart->cudaEventDestroy (event) != cudaSuccess)
    cudart->cudaGetLastError ();
}

void
gst_spdl_cuda_block_free (GstSpdlCudaBlock *self, const GstSpdlCudart *cudart)
{
  free_event (cudart, self->begun);
  free_event (cudart, self->ready);
  for (guint i = 0; i < self->left->len; i++)
    free_event (cudart, g_array_index (self->left, cudaEvent_t, i));
  g_array_unref (self->left);
  g_array_unref (self->users);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

GstSpdlCudaBlock *
gst_spdl_cuda_block_take (
    GstSpdlCudaAllocator *allocator, gsize size, GError **error)
{
  GstSpdlCudaBlock *self =
      gst_spdl_cuda_allocator_take (allocator, size, error);

  if (!self)
    return NULL;
  self->n_refs = 1;
  self->allocator = gst_object_ref (allocator);
  self->failed = FALSE;
  return self;
}

GstSpdlCudaBlock *
gst_spdl_cuda_block_ref (GstSpdlCudaBlock *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

/* Records an event after all work that was submitted to @stream so far. */
static gboolean
leave_stream (
    GstSpdlCudaBlock *self, cudaStream_t stream, const GstSpdlCudart *cudart)
{
  if (self->n_left == self->left->len) {
    cudaEvent_t event = NULL;

    if (cudart->cudaEventCreateWithFlags (&event, cudaEventDisableTiming) !=
        cudaSuccess)
      return FALSE;
    g_array_append_val (self->left, event);
  }
  if (cudart->cudaEventRecord (
          g_array_index (self->left, cudaEvent_t, self->n_left), stream) !=
      cudaSuccess)
    return FALSE;
  self->n_left++;
  return TRUE;
}

/* Records events for all users. Needs no lock, because no memory is left that
 * could be used. */
static void
leave_streams (GstSpdlCudaBlock *self)
{
  const GstSpdlCudart *cudart = self->allocator->cudart;
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (cudart, self->allocator->device_id);

  for (guint i = 0; i < self->users->len; i++) {
    GstSpdlCudaUser *user = &g_array_index (self->users, GstSpdlCudaUser, i);

    if (!self->lost && !leave_stream (self, user->stream, cudart)) {
      cudart->cudaGetLastError ();
      self->lost = TRUE;
    }
    gst_clear_object (&user->allocator);
  }
  g_array_set_size (self->users, 0);
  gst_spdl_cudart_leave (cudart, saved);
}

void
gst_spdl_cuda_block_drop_part (GstSpdlCudaBlock *self)
{
  if (g_atomic_int_dec_and_test (&self->n_parts) && self->users->len > 0)
    leave_streams (self);
  gst_spdl_cuda_block_unref (self);
}

void
gst_spdl_cuda_block_unref (GstSpdlCudaBlock *self)
{
  GstSpdlCudaAllocator *allocator;

  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  allocator = g_steal_pointer (&self->allocator);
  gst_spdl_cuda_allocator_give_back (allocator, self);
  gst_object_unref (allocator);
}

gboolean
gst_spdl_cuda_block_await_users (GstSpdlCudaBlock *self,
    const GstSpdlCudart *cudart, cudaStream_t stream, GError **error)
{
  gboolean ok = TRUE;

  for (guint i = 0; i < self->n_left && ok; i++)
    ok = gst_spdl_cudart_check (cudart,
        cudart->cudaStreamWaitEvent (
            stream, g_array_index (self->left, cudaEvent_t, i), 0),
        "Failed to wait until the device finished using a memory block", error);
  self->n_left = 0;
  self->lost |= !ok;
  return ok;
}

static gboolean
record_event (GstSpdlCudaBlock *self, cudaEvent_t event, GError **error)
{
  const GstSpdlCudaAllocator *allocator = self->allocator;
  const GstSpdlCudart *cudart = allocator->cudart;

  return gst_spdl_cudart_check (cudart,
      cudart->cudaEventRecord (event, allocator->stream),
      "Failed to record a CUDA event", error);
}

gboolean
gst_spdl_cuda_block_begin (GstSpdlCudaBlock *self, GError **error)
{
  return record_event (self, self->begun, error);
}

gboolean
gst_spdl_cuda_block_end (GstSpdlCudaBlock *self, GError **error)
{
  return record_event (self, self->ready, error);
}

gboolean
gst_spdl_cuda_block_finish (
    GstSpdlCudaBlock *self, guint64 *time, GError **error)
{
  const GstSpdlCudart *cudart = self->allocator->cudart;
  float ms = 0;

  if (!gst_spdl_cudart_check (cudart,
          cudart->cudaEventSynchronize (self->ready),
          "A transfer to the CUDA device failed", error))
    return FALSE;
  if (!time)
    return TRUE;
  if (!gst_spdl_cudart_check (cudart,
          cudart->cudaEventElapsedTime (&ms, self->begun, self->ready),
          "Failed to read the duration of a transfer", error))
    return FALSE;
  *time = ms * 1e6;
  return TRUE;
}

void
gst_spdl_cuda_block_fail (GstSpdlCudaBlock *self)
{
  spdl_mutex_lock (&self->lock);
  self->failed = TRUE;
  spdl_mutex_unlock (&self->lock);
}

/* Lock held. Adds a stream that uses the block. A per-thread default stream
 * cannot be named from another thread when the block is returned, so the legacy
 * stream, which waits for all of them, is added instead. */
static void
add_user (
    GstSpdlCudaBlock *self, cudaStream_t stream, GstSpdlCudaAllocator *owner)
{
  GstSpdlCudaUser user = { stream, owner };

  if (!stream || stream == GST_SPDL_CUDA_PER_THREAD)
    user.stream = GST_SPDL_CUDA_LEGACY;
  for (guint i = 0; i < self->users->len; i++)
    if (g_array_index (self->users, GstSpdlCudaUser, i).stream == user.stream)
      return;
  if (owner)
    gst_object_ref (owner);
  g_array_append_val (self->users, user);
}

static gboolean
make_wait (GstSpdlCudaBlock *self, cudaStream_t stream,
    GstSpdlCudaAllocator *owner, GError **error)
{
  const GstSpdlCudart *cudart = self->allocator->cudart;

  if (self->failed) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The tensor's transfer to the CUDA device failed");
    return FALSE;
  }
  if (stream == self->allocator->stream)
    return TRUE;
  if (!gst_spdl_cudart_check (cudart,
          cudart->cudaStreamWaitEvent (
              stream ? stream : GST_SPDL_CUDA_LEGACY, self->ready, 0),
          "Failed to make the CUDA stream wait for an event", error))
    return FALSE;
  add_user (self, stream, owner);
  return TRUE;
}

gboolean
gst_spdl_cuda_block_wait (GstSpdlCudaBlock *self, cudaStream_t stream,
    GstSpdlCudaAllocator *owner, GError **error)
{
  const GstSpdlCudaAllocator *allocator = self->allocator;
  const GstSpdlCudartSaved saved =
      gst_spdl_cudart_enter (allocator->cudart, allocator->device_id);
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = make_wait (self, stream, owner, error);
  spdl_mutex_unlock (&self->lock);
  gst_spdl_cudart_leave (allocator->cudart, saved);
  return ok;
}
