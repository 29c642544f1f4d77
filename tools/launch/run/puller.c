/* gst-spdl-launch: thread that pulls batches like a training loop
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/puller.h"

#include <gst/spdl/spdl.h>

#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/stage/droppeditems.h"
#include "tools/launch/run/itemdigest.h"

struct _Puller {
  GstElement *pipeline;
  GstElement *sink;
  SessionLimits limits;
  gint64 steady_from;
  GSourceFunc ended;
  gpointer user_data;
  GThread *thread;

  GMutex lock;
  GCond cond;
  gboolean stopped;
  gboolean failed; /* the pipeline refused to play */
  PullerCounts counts;
};

/* Lock held. */
static gboolean
is_enough (Puller *self)
{
  const SessionLimits *limits = &self->limits;
  const PullerCounts *counts = &self->counts;

  if (limits->max_batches > 0 && counts->batches >= limits->max_batches)
    return TRUE;
  return limits->steady > 0 && counts->steady_since > 0 &&
         counts->last - counts->steady_since >=
             (gint64) (limits->steady / 1000);
}

/* Counts a batch. Returns whether to continue. */
static gboolean
count_buffer (Puller *self, GstBuffer *buffer, gint64 asked)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  PullerCounts *counts = &self->counts;
  gboolean go_on;

  g_mutex_lock (&self->lock);
  counts->last = g_get_monotonic_time ();
  counts->batches++;
  counts->items += batch ? batch->num_items : 1;
  if (counts->steady_since > 0)
    counts->waited += counts->last - asked;
  if (counts->steady_since == 0 && counts->last >= self->steady_from &&
      counts->batches > self->limits.skip_batches) {
    counts->steady_since = counts->last;
    counts->steady_items = counts->items;
    counts->steady_batches = counts->batches;
  }
  go_on = !self->stopped && !is_enough (self);
  g_mutex_unlock (&self->lock);
  return go_on;
}

/* Waits for the duration of a training step, or until stopped. */
static void
pause_for_step (Puller *self)
{
  const gint64 end = g_get_monotonic_time () + self->limits.step / 1000;

  g_mutex_lock (&self->lock);
  while (!self->stopped && g_cond_wait_until (&self->cond, &self->lock, end))
    ;
  g_mutex_unlock (&self->lock);
}

static void
pull_all (Puller *self)
{
  gboolean go_on = TRUE;

  while (go_on) {
    const gint64 asked = g_get_monotonic_time ();
    GstSample *sample = NULL;

    g_signal_emit_by_name (self->sink, "pull-sample", &sample);
    if (!sample)
      return;
    go_on = count_buffer (self, gst_sample_get_buffer (sample), asked);
    if (self->limits.digest && !digest_add (self->limits.digest, sample))
      go_on = FALSE;
    gst_sample_unref (sample);
    if (go_on && self->limits.step > 0)
      pause_for_step (self);
  }
}

static gpointer
thread_main (gpointer data)
{
  Puller *self = data;
  const gboolean plays = gst_element_set_state (self->pipeline,
                             GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;

  g_mutex_lock (&self->lock);
  self->failed = !plays;
  g_mutex_unlock (&self->lock);
  if (plays && self->sink)
    pull_all (self);
  /* Without an spdlsink, the bus reports the end. */
  if (!plays || self->sink)
    g_idle_add (self->ended, self->user_data);
  return NULL;
}

Puller *
puller_start (GstElement *pipeline, GstElement *sink,
    const SessionLimits *limits, GSourceFunc ended, gpointer user_data)
{
  g_autoptr (GError) problem = NULL;
  Puller *self = g_new0 (Puller, 1);

  self->pipeline = pipeline;
  self->sink = sink;
  self->limits = *limits;
  self->steady_from = g_get_monotonic_time () + limits->warm_up / 1000;
  self->ended = ended;
  self->user_data = user_data;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->thread = spdl_thread_try_new (
      "pull", "the batches of the pipeline", thread_main, self, &problem);
  if (!self->thread) {
    gst_spdl_post_error (pipeline, problem);
    self->failed = TRUE;
    g_idle_add (ended, user_data);
  }
  return self;
}

void
puller_get_counts (Puller *self, PullerCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
}

gboolean
puller_has_failed (Puller *self)
{
  gboolean failed;

  g_mutex_lock (&self->lock);
  failed = self->failed;
  g_mutex_unlock (&self->lock);
  return failed;
}

gboolean
puller_is_done (Puller *self)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  done = is_enough (self);
  g_mutex_unlock (&self->lock);
  return done;
}

void
puller_stop (Puller *self)
{
  g_mutex_lock (&self->lock);
  self->stopped = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
puller_free (Puller *self)
{
  if (self->thread)
    g_thread_join (self->thread);
  /* Remove a pending idle call of the thread. */
  while (g_idle_remove_by_data (self->user_data))
    ;
  g_cond_clear (&self->cond);
  g_mutex_clear (&self->lock);
  g_free (self);
}
