/* gst-spdl: end of a pipeline after an error
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/drain.h"

#include "gst/spdl/engine/newthread.h"

void
gst_spdl_drain_init (GstSpdlDrain *self, GstElement *pipeline,
    void (*none) (gpointer user_data), gpointer user_data)
{
  *self = (GstSpdlDrain){
    .pipeline = pipeline, .none = none, .user_data = user_data
  };
  spdl_mutex_init (&self->lock);
}

void
gst_spdl_drain_clear (GstSpdlDrain *self)
{
  spdl_mutex_clear (&self->lock);
}

/* Pushes the end of the stream. Returns TRUE if an end is on its way: this one,
 * or an earlier one of the element. */
static gboolean
push_eos (GstPad *pad)
{
  GstEvent *eos = gst_event_new_eos (), *stored;
  gboolean ok = gst_pad_push_event (pad, gst_event_ref (eos));

  if (!ok && (stored = gst_pad_get_sticky_event (pad, GST_EVENT_EOS, 0))) {
    ok = stored != eos;
    gst_event_unref (stored);
  }
  gst_event_unref (eos);
  return ok;
}

static gboolean
push_eos_at (GstElement *element, GstPad *pad, gpointer user_data)
{
  GstSpdlDrain *self = user_data;

  if (push_eos (pad)) {
    spdl_mutex_lock (&self->lock);
    self->eos_sent = TRUE;
    spdl_mutex_unlock (&self->lock);
  }
  return TRUE;
}

static void
end_behind (GstElement *element, GstSpdlDrain *self)
{
  gst_element_foreach_src_pad (element, push_eos_at, self);
}

static void
end_source (const GValue *item, gpointer self)
{
  end_behind (g_value_get_object (item), self);
}

/* Ends the sources one by one. An event to the pipeline would block while
 * holding its state lock, so that it could not be stopped. */
static void
end_sources (GstSpdlDrain *self)
{
  GstIterator *sources = gst_bin_iterate_sources (GST_BIN (self->pipeline));

  while (
      gst_iterator_foreach (sources, end_source, self) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (sources);
  gst_iterator_free (sources);
}

/* Ends a job. */
static void
end_job (GstSpdlDrain *self)
{
  gboolean none;

  spdl_mutex_lock (&self->lock);
  none = --self->n_jobs == 0 && !self->eos_sent;
  spdl_mutex_unlock (&self->lock);
  if (none)
    self->none (self->user_data);
}

typedef struct {
  GstSpdlDrain *drain; /* joins the thread */
  GstElement *element; /* owned */
  GThread *thread;
} Job;

static gpointer
run_job (gpointer user_data)
{
  Job *job = user_data;

  if (job->element == job->drain->pipeline)
    end_sources (job->drain);
  else
    end_behind (job->element, job->drain);
  end_job (job->drain);
  return NULL;
}

/* Starts a thread that pushes the end of the stream at @element, at most one
 * per element. A separate thread is needed because the end waits for the data
 * that was pushed before it. Returns FALSE if it cannot be created. Lock
 * held. */
static gboolean
begin_job (GstSpdlDrain *self, GstElement *element)
{
  g_autoptr (GError) error = NULL;
  Job *job;

  for (GSList *l = self->jobs; l; l = l->next)
    if (((Job *) l->data)->element == element)
      return TRUE;
  if (self->stopped)
    return TRUE;
  job = g_new (Job, 1);
  job->drain = self;
  job->element = gst_object_ref (element);
  job->thread = spdl_thread_try_new (
      "spdl-end", "the end of the stream after an error", run_job, job, &error);
  if (job->thread) {
    self->jobs = g_slist_prepend (self->jobs, job);
    self->n_jobs++;
    return TRUE;
  }
  GST_WARNING_OBJECT (element, "%s", error->message);
  gst_object_unref (job->element);
  g_free (job);
  return FALSE;
}

void
gst_spdl_drain_begin (GstSpdlDrain *self, GstElement *element, gboolean all)
{
  gboolean ok = TRUE;

  spdl_mutex_lock (&self->lock);
  self->n_jobs++;
  if (element)
    ok = begin_job (self, element);
  if (all)
    ok = begin_job (self, self->pipeline) && ok;
  spdl_mutex_unlock (&self->lock);
  if (!ok)
    self->none (self->user_data);
  end_job (self);
}

void
gst_spdl_drain_stop (GstSpdlDrain *self)
{
  spdl_mutex_lock (&self->lock);
  self->stopped = TRUE;
  spdl_mutex_unlock (&self->lock);
}

static void
wait_for_job (gpointer data)
{
  Job *job = data;

  g_thread_join (job->thread);
  gst_object_unref (job->element);
  g_free (job);
}

void
gst_spdl_drain_join (GstSpdlDrain *self)
{
  GSList *jobs;

  spdl_mutex_lock (&self->lock);
  self->stopped = TRUE;
  jobs = g_steal_pointer (&self->jobs);
  spdl_mutex_unlock (&self->lock);
  g_slist_free_full (jobs, wait_for_job);
}
