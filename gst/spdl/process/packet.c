/* gst-spdl: messages with a file descriptor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/process/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

typedef union {
  struct cmsghdr header;
  guint8 bytes[CMSG_SPACE (sizeof (int))];
} Control;

gboolean
spdl_packet_is_closed (int problem)
{
  return problem == EPIPE || problem == ECONNRESET || problem == ECONNREFUSED ||
         problem == ENOTCONN;
}

static void
set_closed (GError **error)
{
  g_set_error_literal (
      error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The other process has ended");
}

void
spdl_packet_set_no_connection (GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
      "Failed to create a connection for a worker process: %s: raise the "
      "limit of open files (ulimit -n), or use fewer processes",
      g_strerror (errno));
}

gboolean
spdl_packet_open (int sockets[2], GError **error)
{
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0)
    return TRUE;
  spdl_packet_set_no_connection (error);
  return FALSE;
}

int
spdl_packet_put (
    int socket, const struct iovec *parts, guint n_parts, int fd, int flags)
{
  Control control = { { 0 } };
  struct msghdr header = { .msg_iov = (struct iovec *) parts,
    .msg_iovlen = n_parts };
  gssize sent;

  if (fd >= 0) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control;
    control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
      .cmsg_type = SCM_RIGHTS,
      .cmsg_len = CMSG_LEN (sizeof fd) };
    memcpy (CMSG_DATA (&control.header), &fd, sizeof fd);
  }
  do
    sent = sendmsg (socket, &header, MSG_NOSIGNAL | flags);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

gboolean
spdl_packet_send (int socket, gconstpointer data, gsize size, int fd,
    SpdlProcessWatch *watch, GError **error)
{
  const struct iovec part = { (gpointer) data, size };
  int problem;

  while ((problem = spdl_packet_put (
              socket, &part, 1, fd, watch ? MSG_DONTWAIT : 0)) == EAGAIN &&
         watch)
    if (!spdl_process_watch_wait (watch, socket, POLLOUT, error))
      return FALSE;
  if (problem == 0)
    return TRUE;
  if (spdl_packet_is_closed (problem))
    set_closed (error);
  else
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (problem),
        "Failed to send to another process: %s%s", g_strerror (problem),
        problem == ETOOMANYREFS
            ? ": raise the limit of open files (ulimit -n), which also counts "
              "files in transit between the processes of this user"
            : "");
  return FALSE;
}

static int
take_fd (struct msghdr *header)
{
  struct cmsghdr *control = CMSG_FIRSTHDR (header);
  int fd;

  if (!control || control->cmsg_level != SOL_SOCKET ||
      control->cmsg_type != SCM_RIGHTS ||
      control->cmsg_len != CMSG_LEN (sizeof fd))
    return -1;
  memcpy (&fd, CMSG_DATA (control), sizeof fd);
  return fd;
}

gssize
spdl_packet_get (int socket, gpointer data, gsize size, int flags, int *fd)
{
  struct iovec part = { data, size };
  Control control = { { 0 } };
  struct msghdr header = { .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control };
  gboolean was_reset = FALSE;
  gssize received;

  *fd = -1;
  /* If the other process ended with unread messages, the kernel reports this
   * once before the messages that it had sent. */
  while ((received = recvmsg (socket, &header, MSG_CMSG_CLOEXEC | flags)) < 0 &&
         (errno == EINTR || (errno == ECONNRESET && !was_reset)))
    was_reset |= errno == ECONNRESET;
  if (received <= 0)
    return received;
  *fd = take_fd (&header);
  if (!(header.msg_flags & MSG_TRUNC))
    return received;
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  errno = EMSGSIZE;
  return -1;
}

gboolean
spdl_packet_receive (
    int socket, gpointer data, gsize size, int *fd, GError **error)
{
  const gssize received = spdl_packet_get (socket, data, size, 0, fd);

  if (received == 0 || (received < 0 && spdl_packet_is_closed (errno))) {
    set_closed (error);
    return FALSE;
  }
  if (received == (gssize) size)
    return TRUE;
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
      "Failed to receive from another process: %s",
      received < 0 && errno != EMSGSIZE ? g_strerror (errno)
                                        : "the message has another size");
  return FALSE;
}
