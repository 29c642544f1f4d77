/* gst-spdl: pool of worker processes that call a function, and the
 * process that forks them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/processpool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gst/spdl/engine/sync.h"
#include "gst/spdl/gstspdlsample.h"
#include "gst/spdl/process/packet.h"

struct _SpdlForkServer {
  SpdlMutex lock; /* for a request and its response */
  int socket;
  gint64 timeout;         /* atomic; in ns */
  SpdlProcessWatch watch; /* guarded by the lock, but for the pid */
};

SpdlForkServer *
gst_spdl_fork_server_new (int socket)
{
  SpdlForkServer *self = g_new0 (SpdlForkServer, 1);

  spdl_mutex_init (&self->lock);
  self->socket = socket;
  return self;
}

void
gst_spdl_fork_server_free (SpdlForkServer *self)
{
  /* A forked child of this process may have a copy of the socket. */
  shutdown (self->socket, SHUT_WR);
  close (self->socket);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

void
gst_spdl_fork_server_watch (SpdlForkServer *self, gint32 pid, guint64 timeout)
{
  spdl_mutex_lock (&self->lock);
  self->watch.pid = pid;
  self->watch.timeout = timeout;
  spdl_process_watch_reset (&self->watch);
  __atomic_store_n (&self->timeout, timeout, __ATOMIC_RELAXED);
  spdl_mutex_unlock (&self->lock);
}

gchar *
gst_spdl_fork_server_look (SpdlForkServer *self)
{
  gchar *how = NULL;

  spdl_mutex_lock (&self->lock);
  if (spdl_process_watch_look (&self->watch))
    how = spdl_process_watch_describe (&self->watch);
  spdl_mutex_unlock (&self->lock);
  return how;
}

/* Sends a request, with @fd unless it is -1, and waits for the response. */
static gboolean
request (SpdlForkServer *self, SpdlForkOperation operation, gint32 argument,
    int fd, gint32 *value, GError **error)
{
  const gint32 message[] = { operation, argument };
  int no_fd;
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  self->watch.timeout = __atomic_load_n (&self->timeout, __ATOMIC_RELAXED);
  ok = spdl_packet_send (
           self->socket, message, sizeof message, fd, &self->watch, error) &&
       spdl_process_watch_wait (&self->watch, self->socket, POLLIN, error) &&
       spdl_packet_receive (self->socket, value, sizeof *value, &no_fd, error);
  spdl_mutex_unlock (&self->lock);
  if (!ok)
    g_prefix_error (error, "The process that forks workers cannot be used: ");
  return ok;
}

SpdlProcessLink *
gst_spdl_fork_server_begin (
    SpdlForkServer *self, guint number, gint32 *pid, GError **error)
{
  int sockets[2];
  gboolean ok;

  if (!spdl_packet_open (sockets, error))
    return NULL;
  ok = request (self, SPDL_FORK_BEGIN, number, sockets[1], pid, error);
  close (sockets[1]);
  if (ok && *pid < 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (-*pid),
        "Failed to fork a worker process: %s", g_strerror (-*pid));
    ok = FALSE;
  }
  if (ok) {
    SpdlProcessLink *link = gst_spdl_process_link_new (sockets[0]);

    link->watch.pid = *pid;
    link->watch.timeout = __atomic_load_n (&self->timeout, __ATOMIC_RELAXED);
    link->watch.cancel_fd = self->watch.cancel_fd;
    return link;
  }
  close (sockets[0]);
  return NULL;
}

gchar *
gst_spdl_fork_server_end (
    SpdlForkServer *self, gint32 pid, gboolean kill_now, gint32 *status)
{
  g_autoptr (GError) error = NULL;
  gint32 found = -1;

  /* Its number is not used again before its status was collected. */
  if (kill_now)
    kill (pid, SIGKILL);
  if (!request (self, SPDL_FORK_COLLECT, pid, -1, &found, &error))
    found = -1;
  if (status)
    *status = found;
  if (error)
    return g_strdup_printf ("ended (%s)", error->message);
  if (found < 0)
    return g_strdup_printf ("ended (%s)", g_strerror (-found));
  return spdl_process_describe_status (found);
}

/* Time for a worker to end its item after the stage was cancelled, in ns. */
#define GRACE (100 * GST_MSECOND)
#define NO_END G_MAXUINT64

typedef struct {
  guint number;
  SpdlProcessLink *link; /* NULL: not forked, or ended */
  gint32 pid;
  guint64 cpu_time; /* after its last item, in ns */
} Worker;

struct _SpdlProcessPool {
  SpdlForkServer *server;
  guint size;
  Worker *workers;

  SpdlMutex lock;
  SpdlCond freed;
  /* Guarded by the lock. The one that was used last is taken first, since its
   * memory is in the cache. */
  guint n_idle;
  Worker **idle;
  GCancellable *cancellable; /* of the stage; NULL before the first call */
  int cancel_fd;
};

typedef enum {
  ANSWERED,
  ENDED,
  TIMED_OUT,
  STALLED, /* and was killed */
  CANCELLED,
} Outcome;

SpdlProcessPool *
gst_spdl_process_pool_new (SpdlForkServer *server, guint size)
{
  SpdlProcessPool *self = g_new0 (SpdlProcessPool, 1);

  self->server = server;
  self->size = self->n_idle = size;
  self->workers = g_new0 (Worker, size);
  self->idle = g_new0 (Worker *, size);
  for (guint i = 0; i < size; i++) {
    self->workers[i].number = i;
    self->idle[size - 1 - i] = &self->workers[i];
  }
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->freed);
  return self;
}

/* Workers end when their sockets are closed, or are killed with the server. */
static void
drop_workers (SpdlProcessPool *self)
{
  for (guint i = 0; i < self->size; i++)
    g_clear_pointer (&self->workers[i].link, gst_spdl_process_link_free);
  gst_spdl_fork_server_free (self->server);
}

void
gst_spdl_process_pool_free (SpdlProcessPool *self)
{
  drop_workers (self);
  if (self->cancellable)
    g_cancellable_release_fd (self->cancellable);
  g_clear_object (&self->cancellable);
  spdl_mutex_clear (&self->lock);
  spdl_cond_clear (&self->freed);
  g_free (self->workers);
  g_free (self->idle);
  g_free (self);
}

void
gst_spdl_process_pool_set_server (SpdlProcessPool *self, SpdlForkServer *server)
{
  drop_workers (self);
  self->server = server;
  server->watch.cancel_fd = self->cancel_fd;
}

static Worker *
take_worker (SpdlProcessPool *self, GCancellable *cancellable)
{
  Worker *worker;

  spdl_mutex_lock (&self->lock);
  if (!self->cancellable) {
    self->cancellable = g_object_ref (cancellable);
    self->cancel_fd = g_cancellable_get_fd (cancellable);
    self->server->watch.cancel_fd = self->cancel_fd;
  }
  while (self->n_idle == 0)
    spdl_cond_wait (&self->freed, &self->lock);
  worker = self->idle[--self->n_idle];
  spdl_mutex_unlock (&self->lock);
  return worker;
}

static void
return_worker (SpdlProcessPool *self, Worker *worker)
{
  spdl_mutex_lock (&self->lock);
  self->idle[self->n_idle++] = worker;
  spdl_cond_signal (&self->freed);
  spdl_mutex_unlock (&self->lock);
}

/* Ends a worker. Returns: (transfer full): how it ended */
static gchar *
end_worker (SpdlProcessPool *self, Worker *worker)
{
  g_clear_pointer (&worker->link, gst_spdl_process_link_free);
  worker->cpu_time = 0;
  return gst_spdl_fork_server_end (self->server, worker->pid, TRUE, NULL);
}

/* Waits until there is something to receive, to the time @end at most. */
static Outcome
wait_answer (SpdlProcessLink *link, guint64 end, int cancel_fd)
{
  struct pollfd fds[] = { { .fd = link->socket, .events = POLLIN },
    { .fd = cancel_fd, .events = POLLIN } };

  spdl_process_watch_reset (&link->watch);
  for (;;) {
    const guint64 now = end == NO_END ? 0 : gst_util_get_timestamp ();
    const gint interval = spdl_process_watch_get_interval (&link->watch);
    gint ms = interval, n;

    if (end != NO_END)
      ms = now < end
               ? (gint) MIN ((end - now) / GST_MSECOND + 1, (guint64) interval)
               : 0;
    n = poll (fds, 2, ms);
    if (n < 0)
      continue; /* a signal */
    if (n == 0 && ms == interval && spdl_process_watch_look (&link->watch))
      return STALLED;
    if (fds[0].revents)
      return ANSWERED;
    if (fds[1].revents)
      return CANCELLED;
    if (end != NO_END && gst_util_get_timestamp () >= end)
      return TIMED_OUT;
  }
}

static GstSample *new_failed (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

static GstSample *
new_failed (const gchar *format, ...)
{
  g_autofree gchar *reason = NULL;
  va_list args;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  return gst_spdl_sample_new_failed (reason);
}

static Outcome
exchange (Worker *worker, GstSample *sample, guint64 timeout, int cancel_fd,
    GstSample **result, GError **error)
{
  SpdlProcessLink *link = worker->link;
  Outcome outcome;

  if (!gst_spdl_process_link_send (link, gst_sample_ref (sample), error)) {
    if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CLOSED))
      return ENDED;
    if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
      return STALLED;
    *result = new_failed ("%s", (*error)->message);
    return ANSWERED;
  }
  outcome = wait_answer (link,
      timeout > 0 && timeout < G_MAXINT64 ? gst_util_get_timestamp () + timeout
                                          : NO_END,
      cancel_fd);
  if (outcome == CANCELLED &&
      wait_answer (link, gst_util_get_timestamp () + GRACE, -1) == ANSWERED)
    outcome = ANSWERED;
  if (outcome == ANSWERED &&
      !gst_spdl_process_link_receive (link, result, error))
    outcome = ENDED;
  return outcome;
}

/* Returns FALSE if the worker ended: @ending is (transfer full) how. Sets
 * @fatal if there can be no worker. */
static gboolean
try_call (SpdlProcessPool *self, Worker *worker, GstSample *sample,
    guint64 timeout, GstSample **result, gchar **ending, GError **fatal)
{
  g_autofree gchar *stall = NULL;
  g_autoptr (GError) error = NULL;
  Outcome outcome;

  *result = NULL;
  if (!worker->link)
    worker->link = gst_spdl_fork_server_begin (
        self->server, worker->number, &worker->pid, &error);
  if (!worker->link) {
    *result = new_failed ("%s", error->message);
    g_propagate_error (fatal, g_steal_pointer (&error));
    return TRUE;
  }
  /* The item of another pool may have the memory. */
  worker->link->own.are_forwarded = worker->link->other.are_forwarded = TRUE;
  worker->link->watch.timeout =
      __atomic_load_n (&self->server->timeout, __ATOMIC_RELAXED);
  outcome = exchange (worker, sample, timeout, self->cancel_fd, result, &error);
  if (outcome == ANSWERED)
    return TRUE;
  if (outcome == STALLED)
    stall = spdl_process_watch_describe (&worker->link->watch);
  *ending = end_worker (self, worker);
  if (stall) {
    g_free (*ending);
    *ending = g_steal_pointer (&stall);
    return FALSE;
  }
  if (outcome == ENDED &&
      g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED))
    return FALSE;
  g_clear_pointer (ending, g_free);
  if (outcome == TIMED_OUT)
    *result = new_failed (
        "The function took longer than task-timeout (%.3f s), so its worker "
        "process was killed",
        timeout / 1e9);
  else
    *result =
        new_failed ("%s", error ? error->message : "The stage was stopped");
  return TRUE;
}

/* Returns the CPU time of a worker since the last call. */
static guint64
take_cpu_time (Worker *worker)
{
  const guint64 before = worker->cpu_time;

  worker->cpu_time = worker->link ? worker->link->cpu_time : 0;
  return worker->cpu_time > before ? worker->cpu_time - before : 0;
}

GstSample *
gst_spdl_process_pool_call (SpdlProcessPool *self, GstSample *sample,
    guint64 timeout, guint64 worker_timeout, GCancellable *cancellable,
    guint64 *cpu_time, GError **error)
{
  Worker *worker = take_worker (self, cancellable);
  g_autofree gchar *first = NULL, *second = NULL;
  GstSample *result = NULL;

  __atomic_store_n (&self->server->timeout, worker_timeout, __ATOMIC_RELAXED);
  if (!try_call (self, worker, sample, timeout, &result, &first, error) &&
      !try_call (self, worker, sample, timeout, &result, &second, error))
    result = new_failed (
        "Two worker processes ended while they ran the function with this "
        "item: the first one %s, the second one %s. If memory is short, use "
        "fewer processes",
        first, second);
  *cpu_time = take_cpu_time (worker);
  return_worker (self, worker);
  return result;
}
