/* gst-spdl: process that forks workers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/forkserver.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gst/spdl/engine/sync.h"
#include "gst/spdl/process/packet.h"

struct _SpdlForkServer {
  SpdlMutex lock; /* for a request and its response */
  int socket;
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

/* Sends a request, with @fd unless it is -1, and waits for the response. */
static gboolean
request (SpdlForkServer *self, SpdlForkOperation operation, gint32 argument,
    int fd, gint32 *value, GError **error)
{
  const gint32 message[] = { operation, argument };
  int no_fd;
  gboolean ok;

  spdl_mutex_lock (&self->lock);
  ok = spdl_packet_send (self->socket, message, sizeof message, fd, error) &&
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

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
        "Failed to create a connection for a worker process: %s",
        g_strerror (errno));
    return NULL;
  }
  ok = request (self, SPDL_FORK_BEGIN, number, sockets[1], pid, error);
  close (sockets[1]);
  if (ok && *pid < 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (-*pid),
        "Failed to fork a worker process: %s", g_strerror (-*pid));
    ok = FALSE;
  }
  if (ok)
    return gst_spdl_process_link_new (sockets[0]);
  close (sockets[0]);
  return NULL;
}

static gchar *
describe_status (gint32 status)
{
  const int number = WIFSIGNALED (status) ? WTERMSIG (status) : 0;

  if (number > 0)
    return g_strdup_printf (
        "was killed by signal %d (%s)", number, strsignal (number));
  return g_strdup_printf ("ended with status %d", WEXITSTATUS (status));
}

gchar *
gst_spdl_fork_server_end (SpdlForkServer *self, gint32 pid, gboolean kill_now)
{
  g_autoptr (GError) error = NULL;
  gint32 status;

  /* Its number is not used again before its status was collected. */
  if (kill_now)
    kill (pid, SIGKILL);
  if (!request (self, SPDL_FORK_COLLECT, pid, -1, &status, &error))
    return g_strdup_printf ("ended (%s)", error->message);
  if (status < 0)
    return g_strdup_printf ("ended (%s)", g_strerror (-status));
  return describe_status (status);
}
