/* gst-spdl: periodic timer thread
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/ticker.h"

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/engine/newthread.h"

struct _SpdlTicker {
  SpdlMutex lock;
  SpdlCond stopped;
  gboolean quit;
  gboolean is_own; /* the thread frees the ticker */
  pthread_t id;
  guint64 interval;
  void (*func) (gpointer data);
  gpointer data;
  GDestroyNotify free_data;
};

static void
ticker_free (SpdlTicker *self)
{
  spdl_cond_clear (&self->stopped);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Sleeps until @due. Returns FALSE if the ticker is stopped meanwhile. Lock
 * held. */
static gboolean
sleep_until (SpdlTicker *self, guint64 due)
{
  const SpdlClock clock = { NULL };

  while (!self->quit) {
    const guint64 now = spdl_clock_now (&clock);

    if (now >= due)
      return TRUE;
    spdl_cond_wait_for (&self->stopped, &self->lock, due - now);
  }
  return FALSE;
}

static void *
run_ticker (void *user_data)
{
  SpdlTicker *self = user_data;
  const SpdlClock clock = { NULL };
  gboolean is_own;

  spdl_compat_set_thread_name ("spdl-ticker");
  spdl_mutex_lock (&self->lock);
  while (sleep_until (self, spdl_clock_now (&clock) + self->interval)) {
    spdl_mutex_unlock (&self->lock);
    self->func (self->data);
    spdl_mutex_lock (&self->lock);
  }
  is_own = self->is_own;
  spdl_mutex_unlock (&self->lock);

  if (self->free_data)
    self->free_data (self->data);
  if (is_own)
    ticker_free (self);
  return NULL;
}

SpdlTicker *
spdl_ticker_new (guint64 interval, void (*func) (gpointer data), gpointer data,
    GDestroyNotify free_data, const gchar *purpose, GError **error)
{
  SpdlTicker *self = g_new0 (SpdlTicker, 1);
  int problem;

  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->stopped);
  self->interval = interval;
  self->func = func;
  self->data = data;
  self->free_data = free_data;
  /* Hold the lock, because the thread may stop itself as soon as it runs, and
   * then needs its id. */
  spdl_mutex_lock (&self->lock);
  problem = pthread_create (&self->id, NULL, run_ticker, self);
  spdl_mutex_unlock (&self->lock);
  if (problem == 0)
    return self;
  spdl_thread_set_error (error, "spdl-ticker", purpose, problem);
  ticker_free (self);
  return NULL;
}

void
spdl_ticker_stop (SpdlTicker *self)
{
  const pthread_t id = self->id;
  const gboolean is_own = pthread_equal (id, pthread_self ());

  spdl_mutex_lock (&self->lock);
  self->quit = TRUE;
  self->is_own = is_own;
  spdl_cond_signal (&self->stopped);
  spdl_mutex_unlock (&self->lock);
  if (is_own) {
    pthread_detach (id);
    return;
  }
  pthread_join (id, NULL);
  ticker_free (self);
}
