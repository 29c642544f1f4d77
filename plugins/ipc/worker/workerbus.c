/* gst-spdl: what a worker's pipeline posts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/worker/workerbus.h"

#include "plugins/ipc/wire/parcelmessage.h"

struct _WorkerBus {
  GstPipeline *pipeline;
  WorkerSink *sink;
  SpdlWire *wire;

  SpdlMutex lock;
  /* Under it: */
  GSList *jobs;
  guint n_jobs;      /* that run */
  gboolean eos_sent; /* by one of them */
};

/* The end after an error */

typedef struct {
  WorkerBus *bus;
  GstElement *element; /* owned; the pipeline: its sources */
  GThread *thread;
} Job;

/* Whether an end of the stream is on its way behind @pad: ours, or the
 * element's own. */
static gboolean
push_eos (GstElement *element, GstPad *pad, gpointer user_data)
{
  WorkerBus *self = user_data;
  GstEvent *stored;
  gboolean ok = gst_pad_push_event (pad, gst_event_new_eos ());

  if (!ok && (stored = gst_pad_get_sticky_event (pad, GST_EVENT_EOS, 0))) {
    gst_event_unref (stored);
    ok = GST_PAD_IS_EOS (pad);
  }
  if (ok) {
    spdl_mutex_lock (&self->lock);
    self->eos_sent = TRUE;
    spdl_mutex_unlock (&self->lock);
  }
  return TRUE;
}

static void
end_source (const GValue *item, gpointer user_data)
{
  gst_element_foreach_src_pad (g_value_get_object (item), push_eos, user_data);
}

static void
end_sources (WorkerBus *self)
{
  GstIterator *sources = gst_bin_iterate_sources (GST_BIN (self->pipeline));

  while (
      gst_iterator_foreach (sources, end_source, self) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (sources);
  gst_iterator_free (sources);
}

static gpointer
run_job (gpointer user_data)
{
  Job *job = user_data;
  WorkerBus *self = job->bus;
  gboolean none;

  if (job->element == GST_ELEMENT_CAST (self->pipeline))
    end_sources (self);
  else
    gst_element_foreach_src_pad (job->element, push_eos, self);
  spdl_mutex_lock (&self->lock);
  none = --self->n_jobs == 0 && !self->eos_sent;
  spdl_mutex_unlock (&self->lock);
  if (none)
    worker_sink_end (self->sink);
  return NULL;
}

/* An end of the stream waits for what was pushed before it: that needs a thread
 * of its own. Once for each element. Lock held. */
static void
begin_job (WorkerBus *self, GstElement *element)
{
  Job *job;

  for (GSList *l = self->jobs; l; l = l->next)
    if (((Job *) l->data)->element == element)
      return;
  job = g_new (Job, 1);
  job->bus = self;
  job->element = gst_object_ref (element);
  self->jobs = g_slist_prepend (self->jobs, job);
  self->n_jobs++;
  job->thread = g_thread_new ("spdl-end", run_job, job);
}

static void
on_error (WorkerBus *self, GstObject *source)
{
  spdl_mutex_lock (&self->lock);
  if (GST_IS_ELEMENT (source) && source != GST_OBJECT (self->pipeline))
    begin_job (self, GST_ELEMENT (source));
  begin_job (self, GST_ELEMENT (self->pipeline));
  spdl_mutex_unlock (&self->lock);
  if (source == GST_OBJECT (self->sink))
    worker_sink_end (self->sink);
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  WorkerBus *self = user_data;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  if (spdl_put_message (bytes, message))
    spdl_wire_send (self->wire, SPDL_WIRE_MESSAGE, bytes->data, bytes->len, -1);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    on_error (self, GST_MESSAGE_SRC (message));
  gst_message_unref (message);
  return GST_BUS_DROP;
}

WorkerBus *
worker_bus_new (GstPipeline *pipeline, WorkerSink *sink, SpdlWire *wire)
{
  WorkerBus *self = g_new0 (WorkerBus, 1);
  GstBus *bus = gst_pipeline_get_bus (pipeline);

  self->pipeline = pipeline;
  self->sink = sink;
  self->wire = wire;
  spdl_mutex_init (&self->lock);
  gst_bus_set_sync_handler (bus, on_message, self, NULL);
  gst_object_unref (bus);
  return self;
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
worker_bus_free (WorkerBus *self)
{
  GstBus *bus = gst_pipeline_get_bus (self->pipeline);

  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (bus);
  g_slist_free_full (self->jobs, wait_for_job);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}
