/* gst-spdl: a body that is read while it comes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/flow.h"

#include "gst/spdl/engine/sync.h"

struct _SpdlFlow {
  guint8 *ring;
  gsize room;
  SpdlFlowWakeFunc wake;
  gpointer user_data;
  gsize lent; /* to the reader, who alone knows of it */

  SpdlMutex lock; /* guards: */
  SpdlCond cond;
  guint64 n_written;
  guint64 n_read;
  gboolean starved; /* who writes waits to be woken */
  gboolean closed;
  gboolean begun;
  gboolean ended;
  GError *error; /* nullable */
};

SpdlFlow *
spdl_flow_new (gsize room)
{
  SpdlFlow *self = g_new0 (SpdlFlow, 1);

  self->room = room;
  self->ring = g_malloc (room);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  return self;
}

void
spdl_flow_free (SpdlFlow *self)
{
  g_clear_error (&self->error);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self->ring);
  g_free (self);
}

void
spdl_flow_begin (SpdlFlow *self, SpdlFlowWakeFunc wake, gpointer user_data)
{
  self->wake = wake;
  self->user_data = user_data;
  self->begun = TRUE;
}

guint8 *
spdl_flow_reserve (SpdlFlow *self, gsize *room)
{
  guint8 *data = NULL;
  gsize at;

  spdl_mutex_lock (&self->lock);
  at = self->n_written % self->room;
  *room = MIN (self->room - (self->n_written - self->n_read), self->room - at);
  self->starved = *room == 0;
  if (!self->starved)
    data = self->ring + at;
  spdl_mutex_unlock (&self->lock);
  return data;
}

void
spdl_flow_add (SpdlFlow *self, gsize n)
{
  spdl_mutex_lock (&self->lock);
  self->n_written += n;
  spdl_cond_signal (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_flow_end (SpdlFlow *self, GError *error)
{
  spdl_mutex_lock (&self->lock);
  self->ended = TRUE;
  self->error = error;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_flow_is_closed (SpdlFlow *self)
{
  gboolean closed;

  spdl_mutex_lock (&self->lock);
  closed = self->closed;
  spdl_mutex_unlock (&self->lock);
  return closed;
}

/* Lock held. Returns whether who writes is to be woken: not for each byte. */
static gboolean
give_back (SpdlFlow *self)
{
  self->n_read += self->lent;
  self->lent = 0;
  if (!self->starved || self->n_written - self->n_read > self->room / 2)
    return FALSE;
  self->starved = FALSE;
  return TRUE;
}

gboolean
spdl_flow_read (
    SpdlFlow *self, const guint8 **data, gsize *size, GError **error)
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
  at = self->n_read % self->room;
  *data = self->ring + at;
  *size = self->lent = MIN (self->n_written - self->n_read, self->room - at);
  ok = *size > 0 || !self->error;
  if (!ok)
    g_propagate_error (error, g_error_copy (self->error));
  spdl_mutex_unlock (&self->lock);
  return ok;
}

void
spdl_flow_close (SpdlFlow *self)
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
