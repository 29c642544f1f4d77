/* gst-spdl: gst-spdl-worker, which runs a pipeline for another process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/spdl/spdl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/common/init.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/loader/loader-private.h"
#include "gst/spdl/loader/parse.h"
#include "gst/spdl/stage/droppeditems.h"
#include "plugins/ipc/wire/serializermessage.h"
#include "plugins/ipc/wire/wirereader.h"
#include "plugins/ipc/wire/workerconfig.h"
#include "plugins/ipc/worker/workersink.h"

/* Pipeline */

/* Appends an element if necessary: caps are parsed as a filter only between two
 * elements. */
static GstElement *
parse_text (const gchar *description, GError **error)
{
  GstElement *element = gst_spdl_parse_launch (description, error);
  g_autofree gchar *more = NULL;

  if (element)
    return element;
  more = g_strconcat (description, " ! identity silent=true", NULL);
  element = gst_spdl_parse_launch (more, NULL);
  if (element)
    g_clear_error (error);
  return element;
}

static GstPipeline *
parse_pipeline (const gchar *description, GError **error)
{
  GstElement *element = parse_text (description, error);
  GstElement *pipeline;

  if (!element && error)
    spdl_show_error (*error);
  if (!element || GST_IS_PIPELINE (element))
    return element ? gst_object_ref_sink (GST_PIPELINE (element)) : NULL;
  pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  gst_bin_add (GST_BIN (pipeline), element);
  return GST_PIPELINE (pipeline);
}

static void
set_problem (GError **error, const gchar *text)
{
  g_set_error_literal (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
}

/* Requires that there is no open sink pad, which would never get data, and
 * exactly one open source pad. */
static gboolean
add_sink (GstPipeline *pipeline, GstElement *sink, GError **error)
{
  GstBin *bin = GST_BIN (pipeline);
  g_autoptr (GstPad) open = gst_bin_find_unlinked_pad (bin, GST_PAD_SINK);
  g_autoptr (GstPad) src = gst_bin_find_unlinked_pad (bin, GST_PAD_SRC);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstPad) other = NULL;

  gst_bin_add (bin, sink);
  if (open)
    set_problem (error,
        "The worker's pipeline begins with an open pad: begin it "
        "with a source");
  else if (!src)
    set_problem (error, "The worker's pipeline has no open source pad: remove "
                        "the sink at its end");
  else if (gst_pad_link (src, pad) != GST_PAD_LINK_OK)
    set_problem (error, "Failed to link to the worker's pipeline");
  else if ((other = gst_bin_find_unlinked_pad (bin, GST_PAD_SRC)))
    set_problem (error, "The worker's pipeline has more than one open source "
                        "pad: leave one open");
  else
    return TRUE;
  return FALSE;
}

static gboolean
set_sources (
    GstPipeline *pipeline, const SpdlWorkerConfig *config, GError **error)
{
  GstIterator *sources = gst_bin_iterate_all_by_element_factory_name (
      GST_BIN (pipeline), "spdlsrc");
  GValue item = G_VALUE_INIT;
  guint n = 0;

  while (gst_iterator_next (sources, &item) == GST_ITERATOR_OK) {
    GObject *source = g_value_get_object (&item);

    if (config->resume_state)
      g_object_set (source, "resume-state", config->resume_state, NULL);
    if (config->epochs != 0)
      g_object_set (source, "epochs", config->epochs, NULL);
    g_value_reset (&item);
    n++;
  }
  g_value_unset (&item);
  gst_iterator_free (sources);
  if (n > 0 || !config->resume_state)
    return TRUE;
  set_problem (
      error, "The worker's pipeline cannot resume, because it has no spdlsrc");
  return FALSE;
}

static void
set_classes (GstPipeline *pipeline, const gchar *const *classes)
{
  GstSpdlLoaderParts parts = { .pipeline = pipeline };

  gst_spdl_loader_parts_find_sources (&parts);
  gst_spdl_loader_parts_set_classes (&parts, classes);
  g_ptr_array_unref (parts.sources);
}

/* Returns the common class names of the sources. If they differ, posts a
 * warning and returns NULL.
 * Returns: (transfer full) (nullable) */
static GStrv
dup_classes (GstPipeline *pipeline)
{
  GstSpdlLoaderParts parts = { .pipeline = pipeline };
  g_autoptr (GError) error = NULL;
  GStrv classes;

  gst_spdl_loader_parts_find_sources (&parts);
  if (!gst_spdl_loader_parts_dup_classes (&parts, &classes, &error))
    gst_spdl_post_warning (GST_ELEMENT (pipeline), GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_SETTINGS, error->message);
  g_ptr_array_unref (parts.sources);
  return classes;
}

/* Creates the pipeline described by @config and links @sink to its open pad.
 * Returns: (transfer full): NULL with @error set on failure */
static GstPipeline *
worker_pipeline_new (
    const SpdlWorkerConfig *config, WorkerSink *sink, GError **error)
{
  GstPipeline *pipeline = parse_pipeline (config->description, error);

  if (!pipeline)
    return NULL;
  if (!add_sink (pipeline, GST_ELEMENT (sink), error) ||
      !set_sources (pipeline, config, error)) {
    gst_object_unref (pipeline);
    return NULL;
  }
  if (config->classes)
    set_classes (pipeline, (const gchar *const *) config->classes);
  gst_spdl_loader_parts_tune (&(GstSpdlLoaderParts){ .pipeline = pipeline });
  return pipeline;
}

/* Writes the statistics of the elements from the sources on: their number, and
 * structures. */
static void
worker_pipeline_put_figures (GstPipeline *pipeline, GByteArray *bytes)
{
  const GstSpdlLoaderParts parts = { .pipeline = pipeline };
  GList *figures = gst_spdl_loader_parts_dup_stats (&parts, FALSE);

  spdl_put_u32 (bytes, g_list_length (figures));
  for (GList *l = figures; l; l = l->next)
    spdl_put_structure (bytes, l->data);
  g_list_free_full (figures, (GDestroyNotify) gst_structure_free);
}

/* Bus */

/* Forwards bus messages to the parent process. After an error it drains the
 * pipeline like a loader: sources and the elements after the failed one get
 * EOS, so that finished items reach the sink. */
typedef struct {
  GstPipeline *pipeline;
  WorkerSink *sink;
  SpdlWire *wire;

  SpdlMutex lock;
  /* Protected by the lock: */
  GSList *jobs;
  guint n_jobs;      /* number of running jobs */
  gboolean eos_sent; /* a job sent EOS */
} WorkerBus;

/* Draining after an error */

typedef struct {
  WorkerBus *bus;
  GstElement *element; /* owned; the pipeline: all of its sources */
  GThread *thread;
} Job;

/* Returns whether EOS was sent or stored on @pad, by this function or by the
 * element. */
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

/* Starts a thread that sends EOS to @element, once per element. A separate
 * thread is needed because EOS waits for data that was pushed before it.
 * Returns FALSE if it cannot be created. Lock held. */
static gboolean
begin_job (WorkerBus *self, GstElement *element)
{
  g_autoptr (GError) error = NULL;
  Job *job;

  for (GSList *l = self->jobs; l; l = l->next)
    if (((Job *) l->data)->element == element)
      return TRUE;
  job = g_new (Job, 1);
  job->bus = self;
  job->element = gst_object_ref (element);
  job->thread = spdl_thread_try_new (
      "spdl-end", "the end of the stream after an error", run_job, job, &error);
  if (job->thread) {
    self->jobs = g_slist_prepend (self->jobs, job);
    self->n_jobs++;
    return TRUE;
  }
  fprintf (stderr, "%s\n", error->message);
  gst_object_unref (job->element);
  g_free (job);
  return FALSE;
}

static void
on_error (WorkerBus *self, GstObject *source)
{
  gboolean ends = source != GST_OBJECT (self->sink);

  spdl_mutex_lock (&self->lock);
  if (GST_IS_ELEMENT (source) && source != GST_OBJECT (self->pipeline))
    ends &= begin_job (self, GST_ELEMENT (source));
  ends &= begin_job (self, GST_ELEMENT (self->pipeline));
  spdl_mutex_unlock (&self->lock);
  /* No end will arrive. */
  if (!ends)
    worker_sink_end (self->sink);
}

/* Tasks of elements of others, such as queue. */
static void
prepare_task (WorkerBus *self, GstMessage *message)
{
  g_autoptr (GError) error = NULL;

  if (!spdl_task_thread_prepare (message, &error))
    gst_spdl_post_error (GST_ELEMENT (self->pipeline), error);
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  WorkerBus *self = user_data;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  prepare_task (self, message);
  if (spdl_put_message (bytes, message))
    spdl_wire_send (self->wire, SPDL_WIRE_MESSAGE, bytes->data, bytes->len, -1);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    on_error (self, GST_MESSAGE_SRC (message));
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* All arguments are borrowed and must outlive the object. */
static WorkerBus *
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

/* The pipeline must be in the NULL state. */
static void
worker_bus_free (WorkerBus *self)
{
  GstBus *bus = gst_pipeline_get_bus (self->pipeline);

  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (bus);
  g_slist_free_full (self->jobs, wait_for_job);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Process */

/* spdlworkersrc starts this program with a socket as descriptor 3 and the pid
 * of the pipeline's process as argument. The main thread creates the pipeline
 * and waits for the request to stop; another thread reads messages. The process
 * exits immediately when the socket is closed. */

#define STATUS_BROKEN 3

typedef struct {
  SpdlWire *wire;
  SpdlWireReader reader;
  SpdlWorkerConfig config;
  int mailbox; /* until the sink takes ownership */
  GstPipeline *pipeline;
  WorkerSink *sink;
  WorkerBus *bus;
  GstSpdlGovernor *governor; /* nullable: NULL: no CPU budget */

  SpdlMutex lock;
  SpdlCond cond;
  /* Protected by the lock: */
  gboolean starting;
  gboolean stop;
} Worker;

static void
end_broken (const GError *error)
{
  fprintf (
      stderr, "Invalid data from the parent process: %s\n", error->message);
  _exit (STATUS_BROKEN);
}

/* Called when nothing more can be read. */
static void
end_at_eof (Worker *self)
{
  const int problem = spdl_wire_get_problem (self->wire);

  if (problem == 0)
    _exit (0);
  fprintf (stderr, "Failed to send to the parent process: %s\n",
      g_strerror (problem));
  _exit (STATUS_BROKEN);
}

/* Waits for the next message. Exits if the socket was shut down, usually by the
 * parent process. */
static void
read_message (Worker *self, SpdlWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  SpdlWireStatus status;

  while ((status = spdl_wire_reader_next (
              &self->reader, TRUE, message, &error)) == SPDL_WIRE_NONE)
    if (spdl_wire_reader_fill (&self->reader, SPDL_WORKER_CONFIG_SOCKET) <= 0)
      end_at_eof (self);
  if (status == SPDL_WIRE_BROKEN)
    end_broken (error);
}

/* Messages from the parent process */

static void
send_figures (Worker *self)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gboolean starting;

  spdl_mutex_lock (&self->lock);
  starting = self->starting;
  spdl_mutex_unlock (&self->lock);
  /* Elements have no statistics while they start. The answer shows that this
   * process is not stopped. */
  if (starting)
    spdl_put_u32 (bytes, 0);
  else
    worker_pipeline_put_figures (self->pipeline, bytes);
  spdl_wire_send (self->wire, SPDL_WIRE_FIGURES, bytes->data, bytes->len, -1);
}

static void
note_stop (Worker *self)
{
  spdl_mutex_lock (&self->lock);
  self->stop = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

/* Without an initial budget there is no governor, and the message is
 * ignored. */
static gboolean
set_budget (Worker *self, SpdlPayload *payload)
{
  gdouble budget;

  if (!spdl_get_cpu_budget (payload, &budget))
    return FALSE;
  if (self->governor)
    gst_spdl_governor_set_budget (self->governor, budget);
  return spdl_payload_is_read (payload);
}

static gboolean
handle_message (Worker *self, const SpdlWireMessage *message)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);

  switch (message->type) {
    case SPDL_WIRE_RELEASE:
      return worker_sink_release (self->sink, spdl_get_u32 (&payload)) &&
             spdl_payload_is_read (&payload);
    case SPDL_WIRE_CREDIT:
      return worker_sink_add_credit (self->sink, spdl_get_u32 (&payload)) &&
             spdl_payload_is_read (&payload);
    case SPDL_WIRE_ASK:
      send_figures (self);
      return TRUE;
    case SPDL_WIRE_BUDGET:
      return set_budget (self, &payload);
    case SPDL_WIRE_STOP:
      note_stop (self);
      return TRUE;
    default:
      return FALSE;
  }
}

static gpointer
read_all (gpointer user_data)
{
  Worker *self = user_data;
  SpdlWireMessage message;

  do {
    g_autoptr (GError) error = NULL;

    read_message (self, &message);
    if (message.fd >= 0)
      close (message.fd);
    if (handle_message (self, &message))
      continue;
    g_set_error (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "message %d of %" G_GSIZE_FORMAT " bytes", message.type, message.size);
    end_broken (error);
  } while (message.type != SPDL_WIRE_STOP);
  return NULL;
}

/* Startup */

/* Sets PR_SET_PDEATHSIG, so that this process is killed when the thread that
 * started it exits. */
static void
bind_to_parent (const gchar *parent)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != atoi (parent))
    _exit (0);
}

static void
read_config (Worker *self)
{
  SpdlWireMessage message;
  SpdlPayload payload;

  read_message (self, &message);
  payload = spdl_payload (message.data, message.size);
  self->mailbox = message.fd;
  if (message.type == SPDL_WIRE_START &&
      spdl_get_worker_config (&payload, &self->config))
    return;
  fprintf (stderr, "The first message does not configure the worker\n");
  _exit (STATUS_BROKEN);
}

/* Sets nice level and CPU affinity before other threads are created, which
 * inherit them. Failures are not fatal. */
static void
apply_scheduling (const SpdlWorkerConfig *config)
{
  g_autoptr (GError) error = NULL;

  errno = 0;
  if (config->nice != 0 && nice (config->nice) == -1 && errno != 0)
    perror ("nice");
  if (config->affinity && *config->affinity &&
      !spdl_affinity_apply (config->affinity, &error))
    fprintf (stderr, "%s\n", error->message);
}

static void
send_error (Worker *self, GError *error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GstMessage) message = NULL;

  spdl_show_error (error);
  message = gst_message_new_error (NULL, error, NULL);
  spdl_put_message (bytes, message);
  spdl_wire_send (self->wire, SPDL_WIRE_MESSAGE, bytes->data, bytes->len, -1);
}

static guint64
get_cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return GST_TIMESPEC_TO_TIME (time);
}

static void
make_governor (Worker *self)
{
  self->governor =
      gst_spdl_governor_new (GST_BIN (self->pipeline), self->config.cpu_budget);
  gst_spdl_governor_set_clock (self->governor, get_cpu_time);
}

static gboolean
play_pipeline (Worker *self)
{
  g_autoptr (GError) error = NULL;

  self->sink = worker_sink_new (
      self->wire, spdl_mailbox_open (self->mailbox), self->config.n_slabs);
  gst_object_ref_sink (self->sink);
  self->pipeline = worker_pipeline_new (&self->config, self->sink, &error);
  if (!self->pipeline) {
    send_error (self, error);
    return FALSE;
  }
  self->bus = worker_bus_new (self->pipeline, self->sink, self->wire);
  if (self->config.cpu_budget > 0)
    make_governor (self);
  return TRUE;
}

static void
wait_for_stop (Worker *self)
{
  spdl_mutex_lock (&self->lock);
  while (!self->stop)
    spdl_cond_wait (&self->cond, &self->lock);
  spdl_mutex_unlock (&self->lock);
}

static void
send_started (Worker *self)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_auto (GStrv) classes = dup_classes (self->pipeline);

  spdl_put_strings (bytes, (const gchar *const *) classes);
  spdl_wire_send (self->wire, SPDL_WIRE_STARTED, bytes->data, bytes->len, -1);
}

/* Called when a source has started, or has failed to. */
static void
note_start (gpointer user_data)
{
  Worker *self = user_data;

  spdl_mutex_lock (&self->lock);
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

/* Waits until the sources have opened their datasets, which may be on servers.
 * Returns FALSE if one of them failed, or if the worker is to stop. */
static gboolean
wait_for_sources (Worker *self, const GstSpdlLoaderParts *parts)
{
  SpdlAsyncStart start;

  spdl_mutex_lock (&self->lock);
  while ((start = gst_spdl_loader_parts_get_start (parts)) ==
             SPDL_ASYNC_START_ACTIVE &&
         !self->stop)
    spdl_cond_wait (&self->cond, &self->lock);
  spdl_mutex_unlock (&self->lock);
  return start == SPDL_ASYNC_START_DONE;
}

/* Returns FALSE if the pipeline cannot play, or if the worker is to stop. */
static gboolean
play_sources (Worker *self)
{
  GstSpdlLoaderParts parts = { .pipeline = self->pipeline };
  gboolean ok;

  gst_spdl_loader_parts_find_sources (&parts);
  gst_spdl_loader_parts_watch_starts (&parts, note_start, self);
  ok = gst_element_set_state (GST_ELEMENT (self->pipeline),
           GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE &&
       wait_for_sources (self, &parts);
  g_ptr_array_unref (parts.sources);
  return ok;
}

static gboolean
start_worker (Worker *self)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  if (self->governor && !gst_spdl_governor_start (self->governor, &error)) {
    send_error (self, error);
    return FALSE;
  }
  /* The sink is set to PLAYING before data flows. While it waits for a slab, it
   * holds the lock that the state change needs, and the parent process returns
   * no slabs before it has received STARTED. */
  gst_element_set_locked_state (GST_ELEMENT (self->sink), TRUE);
  gst_element_set_state (GST_ELEMENT (self->sink), GST_STATE_PLAYING);
  ok = play_sources (self);
  spdl_mutex_lock (&self->lock);
  self->starting = FALSE;
  spdl_mutex_unlock (&self->lock);
  if (ok)
    send_started (self);
  return ok;
}

static void
end_worker (Worker *self)
{
  if (self->governor)
    gst_spdl_governor_stop (self->governor);
  gst_element_set_locked_state (GST_ELEMENT (self->sink), FALSE);
  gst_element_set_state (GST_ELEMENT (self->pipeline), GST_STATE_NULL);
  send_figures (self);
  spdl_wire_send (self->wire, SPDL_WIRE_END, NULL, 0, -1);
}

static void
clear_worker (Worker *self)
{
  g_clear_pointer (&self->governor, gst_spdl_governor_free);
  g_clear_pointer (&self->bus, worker_bus_free);
  gst_clear_object (&self->pipeline);
  gst_clear_object (&self->sink);
  spdl_wire_reader_clear (&self->reader);
  spdl_worker_config_clear (&self->config);
  spdl_wire_unref (self->wire);
}

static void
run_worker (Worker *self)
{
  g_autoptr (GError) error = NULL;
  GThread *thread;

  self->starting = TRUE;
  thread = spdl_thread_try_new ("spdl-reader",
      "messages of a worker's parent process", read_all, self, &error);
  if (!thread)
    send_error (self, error);
  if (!thread || !start_worker (self)) {
    end_worker (self);
    g_clear_pointer (&self->bus, worker_bus_free);
    /* The reading thread is still running. */
    _exit (0);
  }
  wait_for_stop (self);
  end_worker (self);
  g_thread_join (thread);
}

int
main (int argc, char **argv)
{
  Worker self = { NULL };
  GError *error = NULL;

  if (argc != 2 || atoi (argv[1]) <= 0) {
    fprintf (stderr, "%s is started by the element spdlworkersrc\n", argv[0]);
    return 1;
  }
  bind_to_parent (argv[1]);
  /* Ctrl-C is handled by the parent process. */
  signal (SIGINT, SIG_IGN);
  self.wire = spdl_wire_new (SPDL_WORKER_CONFIG_SOCKET);
  spdl_mutex_init (&self.lock);
  spdl_cond_init (&self.cond);
  read_config (&self);
  apply_scheduling (&self.config);
  if (gst_spdl_init (&error) && play_pipeline (&self)) {
    run_worker (&self);
  } else {
    if (error)
      send_error (&self, error);
    spdl_wire_send (self.wire, SPDL_WIRE_END, NULL, 0, -1);
  }
  g_clear_error (&error);
  clear_worker (&self);
  return 0;
}
