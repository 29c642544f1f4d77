/* gst-spdl: uploads in flight
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/uploads.h"

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
  SpdlCond begun;   /* for the thread: there is one more, or the end */
  SpdlCond changed; /* for the others */
  GQueue uploads;   /* of Upload, the oldest first; the rest under the lock */
  gboolean ending;
  gboolean flushing;
  gboolean has_failed;
};

static void
free_upload (Upload *upload)
{
  spdl_transfer_clear (&upload->transfer);
  gst_spdl_cuda_block_unref (upload->block);
  g_free (upload);
}

/* Lock not held. */
static void
finish (SpdlUploads *self, Upload *upload)
{
  g_autoptr (GError) error = NULL;
  gboolean first;
  guint64 time;

  if (gst_spdl_cuda_block_finish (upload->block, &time, &error)) {
    self->funcs.done (self->funcs.user_data, time);
    return;
  }
  gst_spdl_cuda_block_fail (upload->block);
  spdl_mutex_lock (&self->lock);
  first = !self->has_failed;
  spdl_mutex_unlock (&self->lock);
  /* It is told before a push can fail of it. */
  if (first)
    self->funcs.failed (self->funcs.user_data, error);
  spdl_mutex_lock (&self->lock);
  self->has_failed = TRUE;
  spdl_mutex_unlock (&self->lock);
}

/* It counts until its batch is given back. */
static gpointer
run (gpointer data)
{
  SpdlUploads *self = data;

  self->cudart->cudaSetDevice (self->device_id);
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
    finish (self, upload);
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
    guint max_in_flight, const SpdlUploadsFuncs *funcs)
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
  self->thread = g_thread_new ("spdl-uploads", run, self);
  return self;
}

void
spdl_uploads_free (SpdlUploads *self)
{
  spdl_mutex_lock (&self->lock);
  self->ending = TRUE;
  spdl_cond_signal (&self->begun);
  spdl_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
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
