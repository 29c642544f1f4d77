/* gst-spdl: bodies of HTTP responses that are read while they arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/bodystream.h"

#include "gst/spdl/engine/sync.h"

struct _SpdlBodyStream {
  guint8 *ring;
  gsize capacity;
  SpdlBodyStreamWakeFunc wake;
  gpointer user_data;
  gsize lent;     /* bytes in use by the reader; used only by it */
  gboolean begun; /* used only by the reader */

  SpdlMutex lock; /* protects the following fields: */
  SpdlCond cond;
  guint64 n_written;
  guint64 n_read;
  gboolean starved; /* the writer waits for wake() */
  gboolean closed;
  gboolean ended;
  GError *error; /* nullable */
};

SpdlBodyStream *
spdl_body_stream_new (gsize capacity)
{
  SpdlBodyStream *self = g_new0 (SpdlBodyStream, 1);

  self->capacity = capacity;
  self->ring = g_malloc (capacity);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  return self;
}

void
spdl_body_stream_free (SpdlBodyStream *self)
{
  g_clear_error (&self->error);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self->ring);
  g_free (self);
}

void
spdl_body_stream_begin (
    SpdlBodyStream *self, SpdlBodyStreamWakeFunc wake, gpointer user_data)
{
  self->wake = wake;
  self->user_data = user_data;
  self->begun = TRUE;
}

guint8 *
spdl_body_stream_reserve (SpdlBodyStream *self, gsize *capacity)
{
  guint8 *data = NULL;
  gsize at;

  spdl_mutex_lock (&self->lock);
  at = self->n_written % self->capacity;
  *capacity = MIN (
      self->capacity - (self->n_written - self->n_read), self->capacity - at);
  self->starved = *capacity == 0;
  if (!self->starved)
    data = self->ring + at;
  spdl_mutex_unlock (&self->lock);
  return data;
}

void
spdl_body_stream_add (SpdlBodyStream *self, gsize n)
{
  spdl_mutex_lock (&self->lock);
  self->n_written += n;
  spdl_cond_signal (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_body_stream_end (SpdlBodyStream *self, GError *error)
{
  spdl_mutex_lock (&self->lock);
  self->ended = TRUE;
  self->error = error;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_body_stream_is_closed (SpdlBodyStream *self)
{
  gboolean closed;

  spdl_mutex_lock (&self->lock);
  closed = self->closed;
  spdl_mutex_unlock (&self->lock);
  return closed;
}

/* Releases the bytes that were read. Returns whether to wake the writer, which
 * happens only when half of the ring is free. Lock held. */
static gboolean
give_back (SpdlBodyStream *self)
{
  self->n_read += self->lent;
  self->lent = 0;
  if (!self->starved || self->n_written - self->n_read > self->capacity / 2)
    return FALSE;
  self->starved = FALSE;
  return TRUE;
}

gboolean
spdl_body_stream_read (
    SpdlBodyStream *self, const guint8 **data, gsize *size, GError **error)
{
  gboolean wake, ok;
  gsize at;

  spdl_mutex_lock (&self->lock);
  wake = give_back (self);
  spdl_mutex_unlock (&self->lock);
  if (wake)
    self->wake (self->user_data);
  spdl_mutex_lock (&self->lock);
  while (self->n_written == self->n_read && !self->ended)
    spdl_cond_wait (&self->cond, &self->lock);
  at = self->n_read % self->capacity;
  *data = self->ring + at;
  *size = self->lent =
      MIN (self->n_written - self->n_read, self->capacity - at);
  ok = *size > 0 || !self->error;
  if (!ok)
    g_propagate_error (error, g_error_copy (self->error));
  spdl_mutex_unlock (&self->lock);
  return ok;
}

void
spdl_body_stream_close (SpdlBodyStream *self)
{
  if (!self->begun)
    return;
  spdl_mutex_lock (&self->lock);
  self->closed = TRUE;
  spdl_mutex_unlock (&self->lock);
  self->wake (self->user_data);
  spdl_mutex_lock (&self->lock);
  while (!self->ended)
    spdl_cond_wait (&self->cond, &self->lock);
  spdl_mutex_unlock (&self->lock);
}
