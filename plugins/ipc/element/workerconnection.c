/* gst-spdl: connection to a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workerconnection.h"

#include <poll.h>
#include <unistd.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/engine/newthread.h"
#include "gst/spdl/process/packet.h"
#include "gst/spdl/process/processwatch.h"
#include "plugins/ipc/element/workerprocess.h"
#include "plugins/ipc/wire/serializermessage.h"

struct _SpdlWorkerConnection {
  GstElement *element;
  GStrv environment;
  GByteArray *config;
  guint32 base;         /* base of the source numbers */
  SpdlRestart *restart; /* nullable */
  GThread *thread;
  SpdlSharedBuffers *shared_buffers; /* NULL until the process runs */

  /* Used only by the thread. */
  SpdlProcess process;
  SpdlWireReader reader;
  SpdlOutput output;
  SpdlProcessWatch watch;
  gboolean got_eos;
  gboolean got_end;

  SpdlMutex lock;
  SpdlCond cond; /* signaled when one of the following fields changes */
  /* Protected by the lock: */
  SpdlWire *wire; /* NULL until the process runs */
  guint pid;
  gdouble cpu_budget;
  gboolean is_new_budget; /* not sent yet */
  gboolean plays;
  GStrv classes; /* nullable: class names of the sources, set when the pipeline
                    plays */
  gboolean over; /* no more messages will arrive */
  gboolean has_error;
  gboolean stopping;
  GstClockTime stop_end; /* time to kill the process; 0: not stopping */
  gboolean interrupted;
  guint64 silent; /* time in which the process made no progress, in ns */
  GQueue messages;
  guint n_events;     /* taken, but not yet acknowledged */
  GPtrArray *figures; /* nullable; does not change */
  guint n_asked;
  guint n_answers;
};

static gpointer run_connection (gpointer self);
static void send_budget (SpdlWorkerConnection *self);

/* Time for the process to stop its pipeline and to exit before it is killed. */
#define STOP_TIME GST_SECOND
/* Interval at which a request to stop is sent to a full socket. */
#define STOP_INTERVAL (10 * GST_MSECOND)
/* Timeout for a request of statistics. */
#define ASK_TIME (200 * GST_MSECOND)

SpdlWorkerConnection *
spdl_worker_connection_new (GstElement *element, GStrv environment,
    const SpdlWorkerConfig *config, guint32 base, guint64 timeout,
    SpdlRestart *restart, GError **error)
{
  SpdlWorkerConnection *self = g_new0 (SpdlWorkerConnection, 1);

  self->element = element;
  self->base = base;
  self->restart = restart;
  self->environment = environment;
  self->config = g_byte_array_new ();
  spdl_put_worker_config (self->config, config);
  self->cpu_budget = config->cpu_budget;
  self->watch = (SpdlProcessWatch){ .timeout = timeout, .is_pinged = TRUE };
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  g_queue_init (&self->messages);
  self->thread = spdl_thread_try_new ("spdl-worker",
      "a worker process and its messages", run_connection, self, error);
  if (!self->thread)
    g_clear_pointer (&self, spdl_worker_connection_free);
  return self;
}

/* Asks the process to stop, and waits until it has ended or the timeout
 * expires. */
static void
stop_connection (SpdlWorkerConnection *self)
{
  const GstClockTime end = gst_util_get_timestamp () + STOP_TIME;
  gboolean asked = FALSE;
  GstClockTime now;
  SpdlWire *wire;

  spdl_mutex_lock (&self->lock);
  self->stopping = TRUE;
  self->stop_end = end;
  while (!self->wire && !self->over)
    spdl_cond_wait_for (&self->cond, &self->lock, GST_MSECOND);
  wire = self->wire;
  spdl_mutex_unlock (&self->lock);
  if (!wire)
    return;
  spdl_mutex_lock (&self->lock);
  while (!self->over && (now = gst_util_get_timestamp ()) < end) {
    /* The socket of a process that does not read may be full. */
    asked = asked || spdl_wire_try_send (wire, SPDL_WIRE_STOP, NULL, 0);
    spdl_cond_wait_for (
        &self->cond, &self->lock, asked ? end - now : STOP_INTERVAL);
  }
  spdl_mutex_unlock (&self->lock);
  spdl_wire_shut (wire);
}

void
spdl_worker_connection_stop (SpdlWorkerConnection *self)
{
  if (!self->thread)
    return;
  stop_connection (self);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
spdl_worker_connection_free (SpdlWorkerConnection *self)
{
  spdl_worker_connection_stop (self);
  g_queue_clear_full (
      &self->messages, (GDestroyNotify) spdl_worker_message_free);
  g_clear_pointer (&self->shared_buffers, spdl_shared_buffers_close);
  g_clear_pointer (&self->wire, spdl_wire_free);
  spdl_wire_reader_clear (&self->reader);
  g_clear_pointer (&self->figures, g_ptr_array_unref);
  g_strfreev (self->classes);
  g_byte_array_unref (self->config);
  g_strfreev (self->environment);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Finds the reason why the pipeline did not reach PLAYING. */
static SpdlWorkerConnectionStatus
take_failure (SpdlWorkerConnection *self, GstMessage **failure, gchar **why)
{
  SpdlWorkerConnectionStatus status = SPDL_WORKER_CONNECTION_PLAYS;
  SpdlWorkerMessage *worker_message;

  do {
    spdl_mutex_lock (&self->lock);
    worker_message = g_queue_pop_head (&self->messages);
    spdl_mutex_unlock (&self->lock);
    if (worker_message && worker_message->kind == SPDL_WORKER_MESSAGE_ERROR) {
      *failure = g_steal_pointer (&worker_message->object);
      status = SPDL_WORKER_CONNECTION_FAILED;
    } else if (!worker_message ||
               worker_message->kind == SPDL_WORKER_MESSAGE_DEATH) {
      *why = worker_message ? g_steal_pointer (&worker_message->text)
                            : g_strdup ("The worker process ended");
      status = SPDL_WORKER_CONNECTION_DIED;
    }
    g_clear_pointer (&worker_message, spdl_worker_message_free);
  } while (status == SPDL_WORKER_CONNECTION_PLAYS);
  return status;
}

SpdlWorkerConnectionStatus
spdl_worker_connection_wait (
    SpdlWorkerConnection *self, GstMessage **failure, gchar **why)
{
  gboolean plays, over;

  spdl_mutex_lock (&self->lock);
  while (!self->plays && !self->over && !self->interrupted)
    spdl_cond_wait (&self->cond, &self->lock);
  plays = self->plays;
  over = self->over;
  spdl_mutex_unlock (&self->lock);
  if (plays)
    return SPDL_WORKER_CONNECTION_PLAYS;
  return over ? take_failure (self, failure, why)
              : SPDL_WORKER_CONNECTION_INTERRUPTED;
}

GStrv
spdl_worker_connection_dup_classes (SpdlWorkerConnection *self)
{
  GStrv classes;

  spdl_mutex_lock (&self->lock);
  classes = g_strdupv (self->classes);
  spdl_mutex_unlock (&self->lock);
  return classes;
}

/* Counts an event as taken. Returns the number of events that the worker may
 * send in exchange. Lock held. */
static guint
count_event (SpdlWorkerConnection *self)
{
  const guint n = ++self->n_events;

  if (n < SPDL_WORKER_CONFIG_MAX_EVENTS / 2)
    return 0;
  self->n_events = 0;
  return n;
}

SpdlWorkerMessage *
spdl_worker_connection_take (SpdlWorkerConnection *self)
{
  SpdlWorkerMessage *worker_message = NULL;
  guint32 credit = 0;

  spdl_mutex_lock (&self->lock);
  while (!self->interrupted && g_queue_is_empty (&self->messages))
    spdl_cond_wait (&self->cond, &self->lock);
  if (!self->interrupted)
    worker_message = g_queue_pop_head (&self->messages);
  if (worker_message && spdl_worker_message_needs_credit (worker_message))
    credit = count_event (self);
  spdl_mutex_unlock (&self->lock);
  if (credit > 0)
    spdl_wire_send (self->wire, SPDL_WIRE_CREDIT, &credit, sizeof credit, -1);
  return worker_message;
}

void
spdl_worker_connection_interrupt (
    SpdlWorkerConnection *self, gboolean interrupted)
{
  spdl_mutex_lock (&self->lock);
  self->interrupted = interrupted;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_worker_connection_set_cpu_budget (
    SpdlWorkerConnection *self, gdouble budget)
{
  spdl_mutex_lock (&self->lock);
  self->is_new_budget |= budget != self->cpu_budget;
  self->cpu_budget = budget;
  send_budget (self);
  spdl_mutex_unlock (&self->lock);
}

guint
spdl_worker_connection_get_pid (SpdlWorkerConnection *self)
{
  guint pid;

  spdl_mutex_lock (&self->lock);
  pid = self->pid;
  spdl_mutex_unlock (&self->lock);
  return pid;
}

guint64
spdl_worker_connection_get_silence (SpdlWorkerConnection *self)
{
  guint64 silent;

  spdl_mutex_lock (&self->lock);
  silent = self->silent;
  spdl_mutex_unlock (&self->lock);
  return silent;
}

/* Requests statistics. One request is unanswered at most, so that those to a
 * process that does not read cannot fill its socket. Lock held. */
static void
send_ask (SpdlWorkerConnection *self)
{
  if (self->n_asked == self->n_answers &&
      spdl_wire_try_send (self->wire, SPDL_WIRE_ASK, NULL, 0))
    self->n_asked++;
}

/* Requests statistics and waits for them. Lock held, but released
 * meanwhile. */
static void
ask_for_figures (SpdlWorkerConnection *self)
{
  const GstClockTime end = gst_util_get_timestamp () + ASK_TIME;
  const guint n = self->n_answers;
  GstClockTime now;

  send_ask (self);
  while (!self->over && self->n_answers == n &&
         (now = gst_util_get_timestamp ()) < end)
    spdl_cond_wait_for (&self->cond, &self->lock, end - now);
}

GPtrArray *
spdl_worker_connection_dup_figures (SpdlWorkerConnection *self)
{
  GPtrArray *figures;

  spdl_mutex_lock (&self->lock);
  if (self->plays && !self->over && !self->stopping)
    ask_for_figures (self);
  figures = self->figures ? g_ptr_array_ref (self->figures) : NULL;
  spdl_mutex_unlock (&self->lock);
  return figures;
}

/* A buffer may be preceded by caps. */
#define MAX_MESSAGES \
  (2 * SPDL_WORKER_CONFIG_MAX_SLABS + 2 * SPDL_WORKER_CONFIG_MAX_EVENTS)

/* Messages for the stream */

/* Queues a message for the stream. Messages are dropped while the connection is
 * being stopped. */
static void
add_message (SpdlWorkerConnection *self, SpdlWorkerMessage *worker_message)
{
  spdl_mutex_lock (&self->lock);
  if (!self->stopping) {
    g_queue_push_tail (&self->messages, worker_message);
    worker_message = NULL;
    spdl_cond_broadcast (&self->cond);
  }
  spdl_mutex_unlock (&self->lock);
  if (worker_message)
    spdl_worker_message_free (worker_message);
}

/* @text: (transfer full): why the process ended */
static void
add_death (SpdlWorkerConnection *self, gchar *text)
{
  SpdlWorkerMessage *worker_message =
      spdl_worker_message_new (SPDL_WORKER_MESSAGE_DEATH, NULL);

  worker_message->text = text;
  add_message (self, worker_message);
}

/* Only the first error ends the stream; others follow from it. */
static void
add_error (SpdlWorkerConnection *self, GstMessage *message)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  first = !self->has_error;
  self->has_error = TRUE;
  spdl_mutex_unlock (&self->lock);
  if (first)
    add_message (
        self, spdl_worker_message_new (SPDL_WORKER_MESSAGE_ERROR, message));
  else
    gst_message_unref (message);
}

/* Messages of the process */

static gboolean
read_slab (
    SpdlWorkerConnection *self, const SpdlWireMessage *message, GError **error)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);
  const guint32 id = spdl_get_u32 (&payload);
  const guint64 size = spdl_get_u64 (&payload);

  if (spdl_payload_is_read (&payload))
    return spdl_shared_buffers_add (
        self->shared_buffers, id, size, message->fd, error);
  if (message->fd >= 0)
    close (message->fd);
  spdl_worker_message_set_broken (error, "a slab");
  return FALSE;
}

static gboolean
read_message (SpdlWorkerConnection *self, SpdlPayload *payload, GError **error)
{
  GstMessage *message =
      spdl_get_message (payload, GST_OBJECT (self->element), self->process.pid);

  if (!message) {
    spdl_worker_message_set_broken (error, "a message");
    return FALSE;
  }
  spdl_worker_message_shift_bus (message, self->base);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    add_error (self, message);
  else if (!self->restart || spdl_restart_add_message (self->restart, message))
    gst_element_post_message (self->element, message);
  else
    gst_message_unref (message);
  return TRUE;
}

static gboolean
read_figures (SpdlWorkerConnection *self, SpdlPayload *payload, GError **error)
{
  GPtrArray *figures =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  const guint32 n = spdl_get_u32 (payload);

  for (guint32 i = 0; i < n && !payload->broken; i++) {
    GstStructure *s = spdl_get_structure (payload);

    if (!s)
      break;
    gst_structure_set (s, "pid", G_TYPE_UINT, (guint) self->process.pid, NULL);
    g_ptr_array_add (figures, s);
  }
  if (!spdl_payload_is_read (payload)) {
    g_ptr_array_unref (figures);
    spdl_worker_message_set_broken (error, "figures");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  g_clear_pointer (&self->figures, g_ptr_array_unref);
  self->figures = figures;
  self->n_answers++;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/* Limits the queue, because a correct worker sends no more messages at a
 * time. */
static gboolean
has_room (SpdlWorkerConnection *self, GError **error)
{
  guint n;

  spdl_mutex_lock (&self->lock);
  n = self->messages.length;
  spdl_mutex_unlock (&self->lock);
  if (n < MAX_MESSAGES)
    return TRUE;
  spdl_worker_message_set_broken (error, "too much data at a time");
  return FALSE;
}

static gboolean
read_next_message (
    SpdlWorkerConnection *self, const SpdlWireMessage *message, GError **error)
{
  SpdlWorkerMessage *worker_message;

  if (!has_room (self, error) || !(worker_message = spdl_worker_message_open (
                                       message, self->shared_buffers, error)))
    return FALSE;
  spdl_worker_message_shift (worker_message, self->base);
  self->got_eos |= worker_message->kind == SPDL_WORKER_MESSAGE_EOS;
  add_message (self, worker_message);
  return TRUE;
}

static gboolean
read_started (SpdlWorkerConnection *self, SpdlPayload *payload, GError **error)
{
  g_auto (GStrv) classes = spdl_get_strings (payload);

  if (!spdl_payload_is_read (payload)) {
    spdl_worker_message_set_broken (error, "the classes");
    return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  g_strfreev (self->classes);
  self->classes = g_steal_pointer (&classes);
  self->plays = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/* Handles a message of the process. Returns FALSE with @error set if it is
 * invalid. */
static gboolean
handle_message (
    SpdlWorkerConnection *self, const SpdlWireMessage *message, GError **error)
{
  SpdlPayload payload = spdl_payload (message->data, message->size);

  if (message->fd >= 0 && message->type != SPDL_WIRE_SLAB)
    close (message->fd);
  switch (message->type) {
    case SPDL_WIRE_STARTED:
      return read_started (self, &payload, error);
    case SPDL_WIRE_SLAB:
      return read_slab (self, message, error);
    case SPDL_WIRE_MESSAGE:
      return read_message (self, &payload, error);
    case SPDL_WIRE_FIGURES:
      return read_figures (self, &payload, error);
    case SPDL_WIRE_END:
      self->got_end = TRUE;
      return TRUE;
    default:
      return read_next_message (self, message, error);
  }
}

/* Thread */

GST_DEBUG_CATEGORY_EXTERN (spdl_worker_src_debug);
#define GST_CAT_DEFAULT spdl_worker_src_debug

/* Time for the process to exit after it has closed its socket. */
#define END_MS 1000

/* Messages that are read before other input is looked at. */
#define MAX_AT_ONCE 64

/* Returns FALSE if no more data will arrive. */
static gboolean
read_socket (SpdlWorkerConnection *self, GError **error)
{
  SpdlWireStatus status = SPDL_WIRE_ONE;
  SpdlWireMessage message;

  for (guint i = 0; i < MAX_AT_ONCE && status == SPDL_WIRE_ONE; i++) {
    status = spdl_wire_reader_receive (&self->reader, self->process.socket,
        MSG_DONTWAIT, FALSE, &message, error);
    if (status == SPDL_WIRE_ONE && !handle_message (self, &message, error))
      return FALSE;
  }
  spdl_mutex_lock (&self->lock);
  send_budget (self);
  spdl_mutex_unlock (&self->lock);
  return status == SPDL_WIRE_NONE || status == SPDL_WIRE_ONE;
}

/* Called when the process has sent nothing for a while: it may have no work, or
 * be stopped. Statistics serve as a ping, which it answers even while it waits
 * for a slab or starts. Returns FALSE if the process was killed. */
static gboolean
check_progress (SpdlWorkerConnection *self)
{
  /* After the end of the stream, only its exit is waited for. */
  const gboolean killed =
      !self->got_eos && spdl_process_watch_look (&self->watch);

  spdl_mutex_lock (&self->lock);
  self->silent = self->watch.silent;
  if (!self->stopping)
    send_ask (self);
  spdl_mutex_unlock (&self->lock);
  return !killed;
}

static void
note_progress (SpdlWorkerConnection *self)
{
  if (self->watch.looked == 0)
    return;
  spdl_process_watch_reset (&self->watch);
  spdl_mutex_lock (&self->lock);
  self->silent = 0;
  spdl_mutex_unlock (&self->lock);
}

/* Returns FALSE if the process made no progress and was killed. */
static gboolean
read_all (SpdlWorkerConnection *self, GError **error)
{
  const gint interval = spdl_process_watch_get_interval (&self->watch);
  struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
  int n;

  fds[0].fd = self->process.socket;
  do {
    fds[1].fd = self->output.fd;
    /* A signal leaves those of the last round. */
    fds[0].revents = fds[1].revents = 0;
    n = poll (fds, 2, interval);
    if (n < 0 && errno != EINTR)
      return TRUE;
    if (n == 0 && !check_progress (self))
      return FALSE;
    if (n > 0)
      note_progress (self);
    if (fds[1].revents)
      spdl_output_read (&self->output);
  } while (!fds[0].revents || read_socket (self, error));
  return TRUE;
}

/* Returns the time that the process has to exit after it closed its socket. */
static gint
get_exit_time (SpdlWorkerConnection *self)
{
  const GstClockTime now = gst_util_get_timestamp ();
  GstClockTime end;

  spdl_mutex_lock (&self->lock);
  end = self->stop_end;
  spdl_mutex_unlock (&self->lock);
  if (end == 0)
    return END_MS;
  return end > now ? (gint) ((end - now) / GST_MSECOND) : 0;
}

static void
reap_process (
    SpdlWorkerConnection *self, const GError *problem, gboolean was_killed)
{
  const int pid = self->process.pid;
  /* A process that sent invalid data is killed immediately. */
  g_autofree gchar *how = spdl_process_wait (
      &self->process, problem || was_killed ? 0 : get_exit_time (self));
  /* The end of the process wakes a thread that holds the wire's lock. */
  const int lost = spdl_wire_get_problem (self->wire);

  while (spdl_output_read (&self->output)) {
  }
  SPDL_INFO_OBJECT (self->element, "process %s", how);
  if (was_killed) {
    g_autofree gchar *reason = spdl_process_watch_describe (&self->watch);

    add_death (self, g_strdup_printf ("The worker process %d %s", pid, reason));
  } else if (problem)
    add_death (
        self, g_strdup_printf ("Invalid data from the worker process %d: %s",
                  pid, problem->message));
  else if (lost != 0)
    add_death (
        self, g_strdup_printf ("Failed to send to the worker process %d: %s",
                  pid, g_strerror (lost)));
  else if (!(self->got_eos && self->got_end))
    add_death (self, g_strdup_printf ("The worker process %s", how));
}

/* Sends a new cpu-budget to the process. If the process does not read, the
 * budget is sent after the next message of the process. Lock held. */
static void
send_budget (SpdlWorkerConnection *self)
{
  g_autoptr (GByteArray) bytes = NULL;

  if (!self->wire || !self->is_new_budget)
    return;
  bytes = g_byte_array_new ();
  spdl_put_cpu_budget (bytes, self->cpu_budget);
  self->is_new_budget = !spdl_wire_try_send (
      self->wire, SPDL_WIRE_BUDGET, bytes->data, bytes->len);
}

/* Starts the process and sends its configuration. */
static gboolean
begin_process (SpdlWorkerConnection *self, GError **error)
{
  SpdlBell *bell = spdl_bell_new ();
  SpdlWire *wire;

  if (!bell) {
    spdl_packet_set_no_connection (error);
    return FALSE;
  }
  self->shared_buffers = spdl_shared_buffers_new (bell);
  if (!spdl_process_start (
          &self->process, (const gchar *const *) self->environment, error))
    return FALSE;
  spdl_output_init (&self->output, self->process.output, self->process.pid);
  self->watch.pid = self->process.pid;
  wire = spdl_wire_new (self->process.socket);
  /* The socket has space for both. */
  spdl_wire_send (wire, SPDL_WIRE_BELL, NULL, 0, bell->fd);
  spdl_wire_send (
      wire, SPDL_WIRE_START, self->config->data, self->config->len, -1);
  spdl_mutex_lock (&self->lock);
  self->wire = wire;
  self->pid = self->process.pid;
  /* The budget may have changed in the meantime. */
  send_budget (self);
  spdl_mutex_unlock (&self->lock);
  return TRUE;
}

/* Thread function. The kernel kills the process when this thread exits, so the
 * thread lives as long as the process. */
static gpointer
run_connection (gpointer user_data)
{
  SpdlWorkerConnection *self = user_data;
  g_autoptr (GError) error = NULL;

  if (begin_process (self, &error)) {
    const gboolean was_killed = !read_all (self, &error);

    reap_process (self, error, was_killed);
    spdl_output_clear (&self->output);
  } else {
    add_death (self, g_strdup (error->message));
  }
  spdl_mutex_lock (&self->lock);
  self->over = TRUE;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
  return NULL;
}
