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
#include <unistd.h>

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/common/init.h"
#include "gst/spdl/common/showntext.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/loader/drain.h"
#include "gst/spdl/loader/loader-private.h"
#include "gst/spdl/process/processwatch.h"
#include "gst/spdl/stage/failure.h"
#include "plugins/ipc/wire/serializermessage.h"
#include "plugins/ipc/wire/workerconfig.h"
#include "plugins/ipc/worker/workersink.h"

/* spdlworkersrc starts this program with a socket as descriptor 3 and the pid
 * of the pipeline's process as argument. The main thread creates the pipeline
 * and waits for the request to stop; another thread reads messages. The process
 * exits immediately when the socket is closed. */

#define STATUS_BROKEN 3

typedef struct {
  SpdlWire *wire;
  SpdlWireReader reader;
  SpdlWorkerConfig config;
  SpdlBell *bell;           /* until the sink takes ownership */
  GstSpdlLoaderParts parts; /* only the pipeline and its sources */
  WorkerSink *sink;
  GstSpdlDrain drain;
  gboolean is_watched;       /* the bus */
  GstSpdlGovernor *governor; /* nullable: NULL: no CPU budget */

  SpdlMutex lock;
  SpdlCond cond;
  /* Protected by the lock: */
  gboolean starting;
  gboolean stop;
} Worker;

/* Pipeline */

/* Appends an element if necessary: caps are parsed as a filter only between two
 * elements. */
static GstPipeline *
parse_pipeline (const gchar *description, GError **error)
{
  GstPipeline *pipeline = gst_spdl_loader_parse (description, error);
  g_autofree gchar *more = NULL;

  if (pipeline)
    return pipeline;
  more = g_strconcat (description, " ! identity silent=true", NULL);
  pipeline = gst_spdl_loader_parse (more, NULL);
  if (pipeline)
    g_clear_error (error);
  return pipeline;
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
set_sources (Worker *self, GError **error)
{
  const SpdlWorkerConfig *config = &self->config;
  GstIterator *sources = gst_bin_iterate_all_by_element_factory_name (
      GST_BIN (self->parts.pipeline), "spdlsrc");
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

/* Creates the pipeline of the configuration and links the sink to its open
 * pad. */
static gboolean
make_pipeline (Worker *self, GError **error)
{
  GstSpdlLoaderParts *parts = &self->parts;

  parts->pipeline = parse_pipeline (self->config.description, error);
  if (!parts->pipeline ||
      !add_sink (parts->pipeline, GST_ELEMENT (self->sink), error) ||
      !set_sources (self, error))
    return FALSE;
  gst_spdl_loader_parts_find_sources (parts);
  if (self->config.classes)
    gst_spdl_loader_parts_set_classes (
        parts, (const gchar *const *) self->config.classes);
  gst_spdl_loader_parts_tune (parts);
  return TRUE;
}

/* Bus */

/* Tasks of elements of others, such as queue. */
static void
prepare_task (Worker *self, GstMessage *message)
{
  g_autoptr (GError) error = NULL;

  if (!spdl_task_thread_prepare (message, &error))
    gst_spdl_post_error (GST_ELEMENT (self->parts.pipeline), error);
}

static void
on_error (Worker *self, GstObject *source)
{
  gst_spdl_drain_begin (&self->drain,
      GST_IS_ELEMENT (source) ? GST_ELEMENT (source) : NULL, TRUE);
  if (source == GST_OBJECT (self->sink))
    worker_sink_end (self->sink);
}

/* Forwards the messages to the parent process. */
static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Worker *self = user_data;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  prepare_task (self, message);
  if (spdl_put_message (bytes, message))
    spdl_wire_send (self->wire, SPDL_WIRE_MESSAGE, bytes->data, bytes->len, -1);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    on_error (self, GST_MESSAGE_SRC (message));
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
end_stream (gpointer sink)
{
  worker_sink_end (sink);
}

static void
watch_bus (Worker *self)
{
  g_autoptr (GstBus) bus = gst_pipeline_get_bus (self->parts.pipeline);

  gst_spdl_drain_init (
      &self->drain, GST_ELEMENT (self->parts.pipeline), end_stream, self->sink);
  gst_bus_set_sync_handler (bus, on_message, self, NULL);
  self->is_watched = TRUE;
}

/* The pipeline is in the NULL state. */
static void
unwatch_bus (Worker *self)
{
  g_autoptr (GstBus) bus = gst_pipeline_get_bus (self->parts.pipeline);

  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_spdl_drain_join (&self->drain);
}

/* Messages from the parent process */

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

  switch (spdl_wire_reader_receive (
      &self->reader, SPDL_WORKER_CONFIG_SOCKET, 0, TRUE, message, &error)) {
    case SPDL_WIRE_ONE:
      return;
    case SPDL_WIRE_BROKEN:
      end_broken (error);
      return;
    default:
      end_at_eof (self);
  }
}

static void
send_figures (Worker *self)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  GList *figures = NULL;
  gboolean starting;

  spdl_mutex_lock (&self->lock);
  starting = self->starting;
  spdl_mutex_unlock (&self->lock);
  /* Elements have no statistics while they start. The answer shows that this
   * process is not stopped. */
  if (!starting)
    figures = gst_spdl_loader_parts_dup_stats (&self->parts, FALSE);
  spdl_put_u32 (bytes, g_list_length (figures));
  for (GList *l = figures; l; l = l->next)
    spdl_put_structure (bytes, l->data);
  g_list_free_full (figures, (GDestroyNotify) gst_structure_free);
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
  if (message.type == SPDL_WIRE_BELL)
    self->bell = spdl_bell_open (message.fd);
  if (self->bell)
    read_message (self, &message);
  payload = spdl_payload (message.data, message.size);
  if (message.type == SPDL_WIRE_START &&
      spdl_get_worker_config (&payload, &self->config))
    return;
  fprintf (stderr, "The first messages do not configure the worker\n");
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

static gboolean
play_pipeline (Worker *self)
{
  g_autoptr (GError) error = NULL;

  self->sink = worker_sink_new (
      self->wire, g_steal_pointer (&self->bell), self->config.n_slabs);
  gst_object_ref_sink (self->sink);
  if (!make_pipeline (self, &error)) {
    send_error (self, error);
    return FALSE;
  }
  watch_bus (self);
  if (self->config.cpu_budget > 0) {
    self->governor = gst_spdl_governor_new (
        GST_BIN (self->parts.pipeline), self->config.cpu_budget);
    gst_spdl_governor_set_clock (self->governor, spdl_process_get_cpu_time);
  }
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
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) classes = NULL;

  /* If the classes of the sources differ, there are none. */
  if (!gst_spdl_loader_parts_dup_classes (&self->parts, &classes, &error))
    gst_spdl_post_warning (GST_ELEMENT (self->parts.pipeline),
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, error->message);
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

/* Returns FALSE if the pipeline cannot play, or if the worker is to stop. */
static gboolean
play_sources (Worker *self)
{
  gst_spdl_loader_parts_watch_starts (&self->parts, note_start, self);
  return gst_element_set_state (GST_ELEMENT (self->parts.pipeline),
             GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE &&
         gst_spdl_loader_parts_wait_for_starts (
             &self->parts, &self->lock, &self->cond, &self->stop, NULL);
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
  gst_element_set_state (GST_ELEMENT (self->parts.pipeline), GST_STATE_NULL);
  send_figures (self);
  spdl_wire_send (self->wire, SPDL_WIRE_END, NULL, 0, -1);
}

static void
clear_worker (Worker *self)
{
  g_clear_pointer (&self->governor, gst_spdl_governor_free);
  if (self->is_watched)
    unwatch_bus (self);
  g_clear_pointer (&self->parts.sources, g_ptr_array_unref);
  gst_clear_object (&self->parts.pipeline);
  gst_clear_object (&self->sink);
  spdl_wire_reader_clear (&self->reader);
  spdl_worker_config_clear (&self->config);
  g_clear_pointer (&self->bell, spdl_bell_free);
  spdl_wire_free (self->wire);
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
    unwatch_bus (self);
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
