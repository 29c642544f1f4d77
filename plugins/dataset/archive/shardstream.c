/* gst-spdl: the samples of a shard, as they come
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/shardstream.h"

#include "gst/spdl/engine/sync.h"

/* What is read ahead; one sample in any case. */
#define MAX_SAMPLES 64
#define MAX_BYTES (16 << 20)

struct _SpdlShardStream {
  SpdlIndexer *indexer;
  gchar *uri;
  GThread *thread; /* nullable: there is none to be had */

  SpdlMutex lock; /* guards: */
  SpdlCond cond;
  GQueue samples; /* SpdlSample */
  guint64 size;   /* of these */
  gboolean ended;
  gboolean closed;
  gboolean flushing;
  GError *error; /* nullable */
};

static gboolean
is_full (const SpdlShardStream *self)
{
  return self->samples.length >= MAX_SAMPLES ||
         (self->samples.length > 0 && self->size >= MAX_BYTES);
}

static gboolean
on_sample (SpdlSample *sample, gpointer user_data)
{
  SpdlShardStream *self = user_data;
  gboolean closed;

  spdl_mutex_lock (&self->lock);
  while (is_full (self) && !self->closed)
    spdl_cond_wait (&self->cond, &self->lock);
  closed = self->closed;
  if (!closed) {
    g_queue_push_tail (&self->samples, sample);
    self->size += sample->size;
    spdl_cond_broadcast (&self->cond);
  }
  spdl_mutex_unlock (&self->lock);
  if (closed)
    spdl_sample_free (sample);
  return !closed;
}

static gpointer
run (gpointer data)
{
  SpdlShardStream *self = data;
  GError *error = NULL;

  spdl_indexer_stream (self->indexer, self->uri, on_sample, self, &error);
  spdl_mutex_lock (&self->lock);
  self->error = error;
  self->ended = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

SpdlShardStream *
spdl_shard_stream_new (SpdlIndexer *indexer, const gchar *uri)
{
  SpdlShardStream *self = g_new0 (SpdlShardStream, 1);
  GError *error = NULL;

  self->indexer = indexer;
  self->uri = g_strdup (uri);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  self->thread = g_thread_try_new ("spdl-stream", run, self, &error);
  if (!self->thread) {
    self->error = error;
    self->ended = TRUE;
  }
  return self;
}

void
spdl_shard_stream_free (SpdlShardStream *self)
{
  spdl_mutex_lock (&self->lock);
  self->closed = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  if (self->thread)
    g_thread_join (self->thread);
  g_queue_clear_full (&self->samples, (GDestroyNotify) spdl_sample_free);
  g_clear_error (&self->error);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self->uri);
  g_free (self);
}

/* Lock held. */
static SpdlStreamVerdict
take (SpdlShardStream *self, SpdlSample **sample, GError **error)
{
  if (self->flushing)
    return SPDL_STREAM_FLUSHING;
  if (self->samples.length > 0) {
    *sample = g_queue_pop_head (&self->samples);
    self->size -= (*sample)->size;
    spdl_cond_broadcast (&self->cond);
    return SPDL_STREAM_SAMPLE;
  }
  if (!self->error)
    return SPDL_STREAM_END;
  g_propagate_error (error, g_error_copy (self->error));
  return SPDL_STREAM_FAILED;
}

SpdlStreamVerdict
spdl_shard_stream_pop (
    SpdlShardStream *self, SpdlSample **sample, GError **error)
{
  SpdlStreamVerdict verdict;

  spdl_mutex_lock (&self->lock);
  while (self->samples.length == 0 && !self->ended && !self->flushing)
    spdl_cond_wait (&self->cond, &self->lock);
  verdict = take (self, sample, error);
  spdl_mutex_unlock (&self->lock);
  return verdict;
}

void
spdl_shard_stream_set_flushing (SpdlShardStream *self, gboolean flushing)
{
  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}
