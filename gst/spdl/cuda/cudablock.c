/* gst-spdl: blocks of device memory and their synchronization events
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/cuda/cudablock.h"

/* Maximum number of free blocks that are kept. */
#define MAX_FREE 8
/* Maximum factor by which a block may exceed the requested size, unless all
 * free blocks do. */
#define MAX_WASTE 4
#define ALIGNMENT 512

/* Creates an event on which waiting threads sleep rather than spin. */
static gboolean
make_event (const GstSpdlCudart *cudart, cudaEvent_t *event, GError **error)
{
  return gst_spdl_cudart_check (cudart,
      cudart->cudaEventCreateWithFlags (event, cudaEventBlockingSync),
      "Failed to create a CUDA event", error);
}

static void
free_event (const GstSpdlCudart *cudart, cudaEvent_t event)
{
  if (event && cudart->cudaEventDestroy (event) != cudaSuccess)
    cudart->cudaGetLastError ();
}

static void
block_free (GstSpdlCudaBlock *self, const GstSpdlCudart *cudart)
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

static GstSpdlCudaBlock *
block_new (
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
  block_free (self, cudart);
  return NULL;
}

/* Makes @stream wait for the previous users of the block. */
static gboolean
await_users (GstSpdlCudaBlock *self, const GstSpdlCudart *cudart,
    cudaStream_t stream, GError **error)
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

/* Device memory */

static cudaError_t
allocate_device_memory (GstSpdlCudaAllocator *self, gpointer *data, gsize size)
{
  const cudaError_t code =
      self->ordered ? self->cudart->cudaMallocAsync (data, size, self->stream)
                    : self->cudart->cudaMalloc (data, size);

  if (code != cudaSuccess)
    self->cudart->cudaGetLastError ();
  return code;
}

static void
free_device_memory (GstSpdlCudaAllocator *self, gpointer data)
{
  const cudaError_t code =
      self->ordered ? self->cudart->cudaFreeAsync (data, self->stream)
                    : self->cudart->cudaFree (data);

  if (code != cudaSuccess)
    self->cudart->cudaGetLastError ();
}

/* Frees a block after its last use. cudaFree() waits until the whole device is
 * idle, but only for memory of cudaMalloc(). */
static void
free_block (GstSpdlCudaAllocator *self, GstSpdlCudaBlock *block)
{
  const GstSpdlCudart *cudart = self->cudart;

  if (self->ordered &&
      (block->lost || !await_users (block, cudart, self->stream, NULL)) &&
      cudart->cudaDeviceSynchronize () != cudaSuccess)
    cudart->cudaGetLastError ();
  free_device_memory (self, block->data);
  block_free (block, cudart);
}

/* Free blocks */

static GstSpdlCudaBlock *
find_free (GstSpdlCudaAllocator *self, gsize size)
{
  GstSpdlCudaBlock *block = NULL;

  spdl_mutex_lock (&self->lock);
  for (GList *l = self->free.head; l && !block; l = l->next) {
    GstSpdlCudaBlock *candidate = l->data;

    if (candidate->size < size || candidate->size / MAX_WASTE > size)
      continue;
    block = candidate;
    g_queue_delete_link (&self->free, l);
    break;
  }
  spdl_mutex_unlock (&self->lock);
  return block;
}

void
gst_spdl_cuda_block_free_all (GstSpdlCudaAllocator *self)
{
  GstSpdlCudaBlock *block;

  do {
    spdl_mutex_lock (&self->lock);
    block = g_queue_pop_head (&self->free);
    spdl_mutex_unlock (&self->lock);
    if (block)
      free_block (self, block);
  } while (block);
}

static void
set_full (
    GstSpdlCudaAllocator *self, cudaError_t code, gsize size, GError **error)
{
  g_autofree gchar *what = NULL;
  guint n;

  spdl_mutex_lock (&self->lock);
  n = self->n_in_use;
  spdl_mutex_unlock (&self->lock);
  what = g_strdup_printf (
      "CUDA device %d has too little memory for a batch of %" G_GSIZE_FORMAT
      " bytes while %u are in use",
      self->device_id, size, n);
  gst_spdl_cudart_check (self->cudart, code, what, error);
}

static GstSpdlCudaBlock *
make_block (GstSpdlCudaAllocator *self, gsize size, GError **error)
{
  const gsize rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  gpointer data = NULL;
  GstSpdlCudaBlock *block;
  cudaError_t code =
      allocate_device_memory (self, &data, MAX (rounded, ALIGNMENT));

  if (code == cudaErrorMemoryAllocation) {
    /* Free blocks of other sizes, and try again. */
    gst_spdl_cuda_block_free_all (self);
    self->cudart->cudaStreamSynchronize (self->stream);
    code = allocate_device_memory (self, &data, MAX (rounded, ALIGNMENT));
  }
  if (code != cudaSuccess) {
    set_full (self, code, size, error);
    return NULL;
  }
  block = block_new (self, data, rounded, error);
  if (!block)
    free_device_memory (self, data);
  return block;
}

/* Takes a free block or allocates one, without a reference. The allocator's
 * stream waits for its last users. */
static GstSpdlCudaBlock *
find_or_make (GstSpdlCudaAllocator *self, gsize size, GError **error)
{
  GstSpdlCudaBlock *block;

  if (size > G_MAXSSIZE - ALIGNMENT) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough device memory for a batch of %" G_GSIZE_FORMAT " bytes",
        size);
    return NULL;
  }
  block = find_free (self, size);
  if (!block)
    block = make_block (self, size, error);
  if (block && !await_users (block, self->cudart, self->stream, error)) {
    free_block (self, block);
    return NULL;
  }
  if (block) {
    spdl_mutex_lock (&self->lock);
    self->n_in_use++;
    spdl_mutex_unlock (&self->lock);
  }
  return block;
}

typedef struct {
  GstSpdlCudaAllocator *self;
  GstSpdlCudaBlock *block;
} Surplus;

static void
free_surplus (gpointer user_data)
{
  const Surplus *surplus = user_data;

  free_block (surplus->self, surplus->block);
}

/* Returns a block. Events of its users have been recorded. */
static void
give_back (GstSpdlCudaAllocator *self, GstSpdlCudaBlock *block)
{
  Surplus surplus = { self, NULL };

  spdl_mutex_lock (&self->lock);
  self->n_in_use--;
  if (block->lost)
    surplus.block = block;
  else
    g_queue_push_tail (&self->free, block);
  if (!surplus.block && self->free.length > MAX_FREE)
    surplus.block = g_queue_pop_head (&self->free);
  spdl_mutex_unlock (&self->lock);
  if (surplus.block)
    gst_spdl_cudart_call (
        self->cudart, self->device_id, free_surplus, &surplus);
}

/* Blocks in use */

GstSpdlCudaBlock *
gst_spdl_cuda_block_take (
    GstSpdlCudaAllocator *allocator, gsize size, GError **error)
{
  GstSpdlCudaBlock *self = find_or_make (allocator, size, error);

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
  give_back (allocator, self);
  gst_object_unref (allocator);
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
