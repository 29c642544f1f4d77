/* gst-spdl: asynchronous uploads to a CUDA device
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/uploads.h"

#include <string.h>

#include "gst/spdl/cuda/pinned.h"
#include "gst/spdl/engine/newthread.h"

typedef struct {
  SpdlTransfer transfer;
  GstSpdlCudaBlock *block; /* owned */
} Upload;

struct _SpdlUploads {
  const GstSpdlCudart *cudart;
  gint device_id;
  guint max_in_flight;
  SpdlUploadsFuncs funcs;
  GThread *thread;

  SpdlMutex lock;
  SpdlCond
      begun; /* wakes the thread: an upload was added, or `ending` is set */
  SpdlCond changed; /* wakes other threads */
  GQueue uploads; /* of Upload, oldest first; this and the following fields are
                     protected by the lock */
  gboolean ending;
  gboolean flushing;
  gboolean has_failed;
};

/* Layout of a batch */

/* Alignment of tensors on the device, for the widest vector loads. */
#define ALIGNMENT 256
/* Maximum total gap between tensors that are copied as one range, in bytes and
 * as a fraction. The last batch of an epoch may be smaller than the memory was
 * laid out for, which leaves gaps. */
#define MAX_GAPS (64 * 1024)
#define MAX_GAPS_SHARE 4

static gsize
align_size (gsize size)
{
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static gboolean
map_tensors (SpdlTransfer *self, GError **error)
{
  const guint n = gst_buffer_n_memory (self->batch);

  for (guint i = 0; i < n; i++) {
    if (!gst_memory_map (gst_buffer_peek_memory (self->batch, i),
            &self->maps[i], GST_MAP_READ)) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Failed to map the memory of tensor %u", i);
      return FALSE;
    }
    self->n_tensors = i + 1;
  }
  return TRUE;
}

/* Returns whether the tensors are in one page-locked range, in order and with
 * small gaps. */
static gboolean
is_one_piece (const SpdlTransfer *self, const GstSpdlPinnedRange *range)
{
  const guint8 *first = self->maps[0].data, *end = first;
  gsize gaps = 0;

  for (guint i = 0; i < self->n_tensors; i++) {
    const GstMapInfo *map = &self->maps[i];

    if (map->data < end || map->data - range->base > (gssize) range->size ||
        map->size > range->size - (map->data - range->base))
      return FALSE;
    gaps += map->data - end;
    end = map->data + map->size;
  }
  return gaps <= MAX ((gsize) MAX_GAPS, (gsize) (end - first) / MAX_GAPS_SHARE);
}

static void
lay_out_piece (SpdlTransfer *self)
{
  const GstMapInfo *last = &self->maps[self->n_tensors - 1];

  self->piece = self->maps[0].data;
  for (guint i = 0; i < self->n_tensors; i++)
    self->offsets[i] = self->maps[i].data - self->piece;
  self->size = last->data + last->size - self->piece;
}

static void
lay_out_each (SpdlTransfer *self)
{
  self->size = 0;
  for (guint i = 0; i < self->n_tensors; i++) {
    self->offsets[i] = self->size;
    self->size += align_size (self->maps[i].size);
  }
}

/* Returns whether another library, such as PyTorch, has page-locked the
 * memory. */
static gboolean
is_locked_elsewhere (const GstSpdlCudart *cudart, const GstMapInfo *map)
{
  /* The structures of later runtimes are larger. */
  union {
    struct cudaPointerAttributes attributes;
    guint8 storage[256];
  } u = { 0 };

  if (cudart->cudaPointerGetAttributes (&u.attributes, map->data) !=
      cudaSuccess) {
    cudart->cudaGetLastError ();
    return FALSE;
  }
  return u.attributes.type == cudaMemoryTypeHost;
}

static gboolean
are_all_locked (const SpdlTransfer *self, GstSpdlCudaAllocator *allocator,
    const GstSpdlCudart *cudart)
{
  const gint device_id = gst_spdl_cuda_allocator_get_device_id (allocator);

  for (guint i = 0; i < self->n_tensors; i++) {
    const GstMapInfo *map = &self->maps[i];

    if (map->size > 0 &&
        !gst_spdl_pinned_find (cudart, device_id, map->data, map->size, NULL) &&
        !is_locked_elsewhere (cudart, map))
      return FALSE;
  }
  return TRUE;
}

/* Copies the tensors to page-locked memory. If none can be locked, the CPU
 * waits for each copy. */
static gboolean
move_memories (SpdlTransfer *self, GstSpdlCudaAllocator *allocator,
    GstAllocator *pinned, const GstSpdlCudart *cudart, GError **error)
{
  self->is_moved = TRUE;
  self->moved = gst_allocator_alloc (pinned, MAX (self->size, 1), NULL);
  if (!self->moved ||
      !gst_memory_map (self->moved, &self->moved_map, GST_MAP_WRITE)) {
    g_clear_pointer (&self->moved, gst_memory_unref);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Failed to allocate %" G_GSIZE_FORMAT " bytes of memory to copy from",
        self->size);
    return FALSE;
  }
  if (!gst_spdl_pinned_find (cudart,
          gst_spdl_cuda_allocator_get_device_id (allocator),
          self->moved_map.data, 1, NULL))
    return TRUE;
  for (guint i = 0; i < self->n_tensors; i++)
    memcpy (self->moved_map.data + self->offsets[i], self->maps[i].data,
        self->maps[i].size);
  self->piece = self->moved_map.data;
  return TRUE;
}

static gboolean
plan_transfer (SpdlTransfer *self, GstSpdlCudaAllocator *allocator,
    GstAllocator *pinned, GError **error)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (error);
  GstSpdlPinnedRange range;

  if (!cudart)
    return FALSE;
  if (self->n_tensors > 0 &&
      gst_spdl_pinned_find (cudart,
          gst_spdl_cuda_allocator_get_device_id (allocator), self->maps[0].data,
          self->maps[0].size, &range) &&
      is_one_piece (self, &range)) {
    lay_out_piece (self);
    return TRUE;
  }
  lay_out_each (self);
  return are_all_locked (self, allocator, cudart) ||
         move_memories (self, allocator, pinned, cudart, error);
}

gboolean
spdl_transfer_init (SpdlTransfer *self, GstBuffer *batch,
    GstSpdlCudaAllocator *allocator, GstAllocator *pinned, GError **error)
{
  *self = (SpdlTransfer){ .batch = batch };
  if (map_tensors (self, error) &&
      plan_transfer (self, allocator, pinned, error))
    return TRUE;
  spdl_transfer_clear (self);
  return FALSE;
}

static gboolean
copy_memory (gpointer to, gconstpointer from, gsize size,
    GstSpdlCudaBlock *block, GError **error)
{
  const GstSpdlCudart *cudart = gst_spdl_cudart_get (error);

  return size == 0 ||
         gst_spdl_cudart_check (cudart,
             cudart->cudaMemcpyAsync (to, from, size, cudaMemcpyHostToDevice,
                 gst_spdl_cuda_allocator_get_stream (block->allocator)),
             "Failed to copy a batch to the device", error);
}

static gboolean
copy_tensors (SpdlTransfer *self, GstSpdlCudaBlock *block, GError **error)
{
  if (self->piece)
    return copy_memory (block->data, self->piece, self->size, block, error);
  for (guint i = 0; i < self->n_tensors; i++)
    if (!copy_memory (block->data + self->offsets[i], self->maps[i].data,
            self->maps[i].size, block, error))
      return FALSE;
  return TRUE;
}

gboolean
spdl_transfer_begin (
    SpdlTransfer *self, GstSpdlCudaBlock *block, GError **error)
{
  return gst_spdl_cuda_block_begin (block, error) &&
         copy_tensors (self, block, error) &&
         gst_spdl_cuda_block_end (block, error);
}

void
spdl_transfer_clear (SpdlTransfer *self)
{
  if (self->moved)
    gst_memory_unmap (self->moved, &self->moved_map);
  g_clear_pointer (&self->moved, gst_memory_unref);
  for (guint i = 0; i < self->n_tensors; i++)
    gst_memory_unmap (self->maps[i].memory, &self->maps[i]);
  self->n_tensors = 0;
  gst_clear_buffer (&self->batch);
}

static void
free_upload (Upload *upload)
{
  spdl_transfer_clear (&upload->transfer);
  gst_spdl_cuda_block_unref (upload->block);
  g_free (upload);
}

/* Lock not held. */
static void
finish_upload (SpdlUploads *self, Upload *upload)
{
  g_autoptr (GError) error = NULL;
  gboolean first;
  guint64 time;

  if (gst_spdl_cuda_block_finish (upload->block, &time, &error)) {
    self->funcs.done (self->funcs.user_data, time);
    return;
  }
  gst_spdl_cuda_block_fail (upload->block);
  /* The copy may still read the batch, which is freed next. */
  self->cudart->cudaStreamSynchronize (
      gst_spdl_cuda_allocator_get_stream (upload->block->allocator));
  self->cudart->cudaGetLastError ();
  spdl_mutex_lock (&self->lock);
  first = !self->has_failed;
  spdl_mutex_unlock (&self->lock);
  /* The error is reported before a push can fail because of it. */
  if (first)
    self->funcs.failed (self->funcs.user_data, error);
  spdl_mutex_lock (&self->lock);
  self->has_failed = TRUE;
  spdl_mutex_unlock (&self->lock);
}

/* An upload counts as in flight until its batch is released. */
static gpointer
run_worker (gpointer data)
{
  SpdlUploads *self = data;

  gst_spdl_cudart_join (self->cudart, self->device_id);
  spdl_mutex_lock (&self->lock);
  for (;;) {
    Upload *upload = g_queue_peek_head (&self->uploads);

    if (!upload && self->ending)
      break;
    if (!upload) {
      spdl_cond_wait (&self->begun, &self->lock);
      continue;
    }
    spdl_mutex_unlock (&self->lock);
    finish_upload (self, upload);
    free_upload (upload);
    spdl_mutex_lock (&self->lock);
    g_queue_pop_head (&self->uploads);
    spdl_cond_broadcast (&self->changed);
  }
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

SpdlUploads *
spdl_uploads_new (const GstSpdlCudart *cudart, gint device_id,
    guint max_in_flight, const SpdlUploadsFuncs *funcs, GError **error)
{
  SpdlUploads *self = g_new0 (SpdlUploads, 1);

  self->cudart = cudart;
  self->device_id = device_id;
  self->max_in_flight = max_in_flight;
  self->funcs = *funcs;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->begun);
  spdl_cond_init (&self->changed);
  g_queue_init (&self->uploads);
  self->thread = spdl_thread_try_new (
      "spdl-uploads", "uploads to the GPU", run_worker, self, error);
  if (!self->thread)
    g_clear_pointer (&self, spdl_uploads_free);
  return self;
}

void
spdl_uploads_free (SpdlUploads *self)
{
  if (self->thread) {
    spdl_mutex_lock (&self->lock);
    self->ending = TRUE;
    spdl_cond_signal (&self->begun);
    spdl_mutex_unlock (&self->lock);
    g_thread_join (self->thread);
  }
  spdl_cond_clear (&self->begun);
  spdl_cond_clear (&self->changed);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

static SpdlUploadsState
wait_until_below (SpdlUploads *self, guint n)
{
  SpdlUploadsState state = SPDL_UPLOADS_OK;

  spdl_mutex_lock (&self->lock);
  while (self->uploads.length >= n && !self->flushing && !self->has_failed)
    spdl_cond_wait (&self->changed, &self->lock);
  if (self->has_failed)
    state = SPDL_UPLOADS_FAILED;
  else if (self->flushing)
    state = SPDL_UPLOADS_FLUSHING;
  spdl_mutex_unlock (&self->lock);
  return state;
}

SpdlUploadsState
spdl_uploads_wait_for_room (SpdlUploads *self)
{
  return wait_until_below (self, self->max_in_flight);
}

void
spdl_uploads_add (
    SpdlUploads *self, SpdlTransfer *transfer, GstSpdlCudaBlock *block)
{
  Upload *upload = g_new (Upload, 1);

  upload->transfer = *transfer;
  upload->block = block;
  spdl_mutex_lock (&self->lock);
  g_queue_push_tail (&self->uploads, upload);
  spdl_cond_signal (&self->begun);
  spdl_mutex_unlock (&self->lock);
}

SpdlUploadsState
spdl_uploads_drain (SpdlUploads *self)
{
  return wait_until_below (self, 1);
}

void
spdl_uploads_set_flushing (SpdlUploads *self, gboolean flushing)
{
  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  spdl_cond_broadcast (&self->changed);
  spdl_mutex_unlock (&self->lock);
}
