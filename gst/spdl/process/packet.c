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

void
spdl_packet_attach (struct msghdr *header, int fd)
{
  struct cmsghdr *control = CMSG_FIRSTHDR (header);

  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN (sizeof fd);
  memcpy (CMSG_DATA (control), &fd, sizeof fd);
}

static void
set_closed (GError **error)
{
  g_set_error_literal (
      error, G_IO_ERROR, G_IO_ERROR_CLOSED, "The other process has ended");
}

gboolean
spdl_packet_send (int socket, gconstpointer data, gsize size, int fd,
    SpdlProcessWatch *watch, GError **error)
{
  const int flags = MSG_NOSIGNAL | (watch ? MSG_DONTWAIT : 0);
  struct iovec part = { (gpointer) data, size };
  Control control = { { 0 } };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
  gssize sent;

  if (fd >= 0) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control;
    spdl_packet_attach (&header, fd);
  }
  do {
    sent = sendmsg (socket, &header, flags);
    if (sent < 0 && errno == EAGAIN && watch &&
        !spdl_process_watch_wait (watch, socket, POLLOUT, error))
      return FALSE;
  } while (sent < 0 && (errno == EINTR || (errno == EAGAIN && watch)));
  if (sent >= 0)
    return TRUE;
  if (errno == EPIPE || errno == ECONNRESET)
    set_closed (error);
  else
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
        "Failed to send to another process: %s%s", g_strerror (errno),
        errno == ETOOMANYREFS
            ? ": raise the limit of open files (ulimit -n), which also holds "
              "for those on their way between the processes of this user"
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

gboolean
spdl_packet_receive (
    int socket, gpointer data, gsize size, int *fd, GError **error)
{
  struct iovec part = { data, size };
  Control control = { { 0 } };
  struct msghdr header = { .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control };
  gssize received;

  *fd = -1;
  do
    received = recvmsg (socket, &header, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received == 0 || (received < 0 && errno == ECONNRESET)) {
    set_closed (error);
    return FALSE;
  }
  if (received > 0)
    *fd = take_fd (&header);
  if (received == (gssize) size)
    return TRUE;
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
      "Failed to receive from another process: %s",
      received < 0 ? g_strerror (errno) : "the message has another size");
  return FALSE;
}
