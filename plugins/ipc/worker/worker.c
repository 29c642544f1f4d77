/* gst-spdl: gst-spdl-worker, a process that runs a pipeline for another
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/loader/workerloader.h"
#include "plugins/ipc/wire/affinity.h"
#include "plugins/ipc/wire/parcelmessage.h"
#include "plugins/ipc/wire/wirereader.h"
#include "plugins/ipc/worker/workerbus.h"
#include "plugins/ipc/worker/workerpipeline.h"

/* spdlworkersrc starts it, with a socket as descriptor 3 and its own process's
 * number as argument. The main thread makes the pipeline and waits for the word
 * to stop; another one reads. When the socket ends, so does the process, at
 * once. */

#define STATUS_BROKEN 3

typedef struct {
  SpdlWire *wire;
  SpdlWireReader reader;
  SpdlOrder order;
  int mailbox; /* until the sink has it */
  GstPipeline *pipeline;
  WorkerSink *sink;
  WorkerBus *bus;
  GstSpdlGovernor *governor; /* nullable: there is no budget */

  SpdlMutex lock;
  SpdlCond cond;
  gboolean stop; /* under the lock */
} Worker;

static void
end_broken (const GError *error)
{
  fprintf (stderr, "What came from the other process makes no sense: %s\n",
      error->message);
  _exit (STATUS_BROKEN);
}

/* Waits for the next message. The other process is gone where none comes. */
static void
read_message (Worker *self, SpdlWireMessage *message)
{
  g_autoptr (GError) error = NULL;
  SpdlWireStatus status;

  while ((status = spdl_wire_reader_next (
              &self->reader, TRUE, message, &error)) == SPDL_WIRE_NONE)
    if (spdl_wire_reader_fill (&self->reader, SPDL_ORDER_SOCKET) <= 0)
      _exit (0);
  if (status == SPDL_WIRE_BROKEN)
    end_broken (error);
}

/* What the other process says while the pipeline plays */

static void
send_figures (Worker *self)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

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

/* Where none was to be kept, there is nobody to keep this one. */
static gboolean
set_budget (Worker *self, SpdlParcel *parcel)
{
  gdouble budget;

  if (!spdl_get_cpu_budget (parcel, &budget))
    return FALSE;
  if (self->governor)
    gst_spdl_governor_set_budget (self->governor, budget);
  return spdl_parcel_is_read (parcel);
}

static gboolean
handle (Worker *self, const SpdlWireMessage *message)
{
  SpdlParcel parcel = spdl_parcel (message->data, message->size);

  switch (message->type) {
    case SPDL_WIRE_RELEASE:
      return worker_sink_release (self->sink, spdl_get_u32 (&parcel)) &&
             spdl_parcel_is_read (&parcel);
    case SPDL_WIRE_CREDIT:
      return worker_sink_add_credit (self->sink, spdl_get_u32 (&parcel)) &&
             spdl_parcel_is_read (&parcel);
    case SPDL_WIRE_ASK:
      send_figures (self);
      return TRUE;
    case SPDL_WIRE_BUDGET:
      return set_budget (self, &parcel);
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
    if (handle (self, &message))
      continue;
    g_set_error (&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "message %d of %" G_GSIZE_FORMAT " bytes", message.type, message.size);
    end_broken (error);
  } while (message.type != SPDL_WIRE_STOP);
  return NULL;
}

/* The start */

/* Dies with its parent, which is a thread there that lives as long. */
static void
bind_to_parent (const gchar *parent)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != atoi (parent))
    _exit (0);
}

static void
read_order (Worker *self)
{
  SpdlWireMessage message;
  SpdlParcel parcel;

  read_message (self, &message);
  parcel = spdl_parcel (message.data, message.size);
  self->mailbox = message.fd;
  if (message.type == SPDL_WIRE_START && spdl_get_order (&parcel, &self->order))
    return;
  fprintf (stderr, "The first message is no order\n");
  _exit (STATUS_BROKEN);
}

/* Before there are threads, which take these over. What is refused costs its
 * effect alone. */
static void
settle (const SpdlOrder *order)
{
  g_autoptr (GError) error = NULL;

  errno = 0;
  if (order->nice != 0 && nice (order->nice) == -1 && errno != 0)
    perror ("nice");
  if (order->affinity && *order->affinity &&
      !spdl_affinity_apply (order->affinity, &error))
    fprintf (stderr, "%s\n", error->message);
}

static void
send_error (Worker *self, GError *error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GstMessage) message = gst_message_new_error (NULL, error, NULL);

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
      gst_spdl_governor_new (GST_BIN (self->pipeline), self->order.cpu_budget);
  gst_spdl_governor_set_clock (self->governor, get_cpu_time);
}

static gboolean
play (Worker *self)
{
  g_autoptr (GError) error = NULL;

  self->sink = worker_sink_new (
      self->wire, spdl_mailbox_open (self->mailbox), self->order.n_slabs);
  gst_object_ref_sink (self->sink);
  self->pipeline = worker_pipeline_new (&self->order, self->sink, &error);
  if (!self->pipeline) {
    send_error (self, error);
    return FALSE;
  }
  self->bus = worker_bus_new (self->pipeline, self->sink, self->wire);
  if (self->order.cpu_budget > 0)
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
  g_auto (GStrv) classes = gst_spdl_worker_dup_classes (self->pipeline);

  spdl_put_strings (bytes, (const gchar *const *) classes);
  spdl_wire_send (self->wire, SPDL_WIRE_STARTED, bytes->data, bytes->len, -1);
}

static gboolean
start (Worker *self)
{
  gboolean ok;

  if (self->governor)
    gst_spdl_governor_start (self->governor);
  /* The sink plays before anything flows: when it waits for a slab it holds the
   * lock that its change to PLAYING takes, and the other process gives none
   * back before this one has started. */
  gst_element_set_locked_state (GST_ELEMENT (self->sink), TRUE);
  gst_element_set_state (GST_ELEMENT (self->sink), GST_STATE_PLAYING);
  ok = gst_element_set_state (GST_ELEMENT (self->pipeline),
           GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  if (ok)
    send_started (self);
  return ok;
}

static void
end (Worker *self)
{
  if (self->governor)
    gst_spdl_governor_stop (self->governor);
  gst_element_set_locked_state (GST_ELEMENT (self->sink), FALSE);
  gst_element_set_state (GST_ELEMENT (self->pipeline), GST_STATE_NULL);
  send_figures (self);
  spdl_wire_send (self->wire, SPDL_WIRE_END, NULL, 0, -1);
}

static void
clear (Worker *self)
{
  g_clear_pointer (&self->governor, gst_spdl_governor_free);
  g_clear_pointer (&self->bus, worker_bus_free);
  gst_clear_object (&self->pipeline);
  gst_clear_object (&self->sink);
  spdl_wire_reader_clear (&self->reader);
  spdl_order_clear (&self->order);
  spdl_wire_unref (self->wire);
}

static void
run (Worker *self)
{
  GThread *thread = g_thread_new ("spdl-reader", read_all, self);

  if (!start (self)) {
    end (self);
    g_clear_pointer (&self->bus, worker_bus_free);
    /* The other thread reads on. */
    _exit (0);
  }
  wait_for_stop (self);
  end (self);
  g_thread_join (thread);
}

int
main (int argc, char **argv)
{
  Worker self = { NULL };
  GError *error = NULL;

  if (argc != 2 || atoi (argv[1]) <= 0) {
    fprintf (stderr, "%s is run by the element spdlworkersrc\n", argv[0]);
    return 1;
  }
  bind_to_parent (argv[1]);
  /* Ctrl-C is the trainer's. */
  signal (SIGINT, SIG_IGN);
  self.wire = spdl_wire_new (SPDL_ORDER_SOCKET);
  spdl_mutex_init (&self.lock);
  spdl_cond_init (&self.cond);
  read_order (&self);
  settle (&self.order);
  if (gst_init_check (NULL, NULL, &error) && play (&self)) {
    run (&self);
  } else {
    if (error)
      send_error (&self, error);
    spdl_wire_send (self.wire, SPDL_WIRE_END, NULL, 0, -1);
  }
  g_clear_error (&error);
  clear (&self);
  return 0;
}
