/* gst-spdl: socket between the pipeline and its worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/wire.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gst/spdl/process/packet.h"

/* spdl_wire_try_send() leaves the rest of the socket to messages that must be
 * sent. The kernel counts its own overhead, too. */
#define MAX_UNREAD 16384

SpdlWire *
spdl_wire_new (int socket)
{
  SpdlWire *self = g_new0 (SpdlWire, 1);

  self->n_refs = 1;
  self->pid = getpid ();
  self->socket = socket;
  spdl_mutex_init (&self->lock);
  return self;
}

SpdlWire *
spdl_wire_ref (SpdlWire *self)
{
  g_atomic_int_inc (&self->n_refs);
  return self;
}

void
spdl_wire_unref (SpdlWire *self)
{
  if (!g_atomic_int_dec_and_test (&self->n_refs))
    return;
  spdl_wire_close (self);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

gboolean
spdl_wire_is_own (const SpdlWire *self)
{
  return self->pid == getpid ();
}

/* Advances past @sent bytes in the vectors of the message. Returns whether all
 * bytes were sent. */
static gboolean
advance_message (struct msghdr *message, gsize sent)
{
  while (message->msg_iovlen > 0 && sent >= message->msg_iov->iov_len) {
    sent -= message->msg_iov->iov_len;
    message->msg_iov++;
    message->msg_iovlen--;
  }
  if (message->msg_iovlen == 0)
    return TRUE;
  message->msg_iov->iov_base = (guint8 *) message->msg_iov->iov_base + sent;
  message->msg_iov->iov_len -= sent;
  return FALSE;
}

/* Returns whether a message that was not sent is to be sent again. Lock
 * held. */
static gboolean
must_retry (SpdlWire *self, int flags)
{
  return errno == EINTR || (errno == EAGAIN && flags == 0 && self->may_go_on &&
                               self->may_go_on (self->user_data));
}

/* Lock held.
 *
 * @flags: for the first bytes; the rest of a message always follows */
static gboolean
send_all (SpdlWire *self, struct msghdr *message, int flags)
{
  gssize sent;

  do {
    sent = sendmsg (self->socket, message, MSG_NOSIGNAL | flags);
    if (sent < 0 && !must_retry (self, flags))
      return FALSE;
    /* The descriptor is sent once, with the first byte. */
    if (sent > 0)
      message->msg_controllen = flags = 0;
  } while (sent < 0 || !advance_message (message, sent));
  return TRUE;
}

/* Ends the connection, so that the peer does not mistake a stream in which a
 * message is missing for a complete one. Lock held. */
static void
lose_message (SpdlWire *self, int problem)
{
  if (problem == EPIPE || problem == ECONNRESET || problem == EAGAIN)
    return;
  if (self->problem == 0)
    self->problem = problem;
  spdl_wire_shut (self);
}

/* Lock held. */
static gboolean
send_message (SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size,
    int fd, int flags)
{
  SpdlWireHeader header = { SPDL_WIRE_MAGIC, type, size, fd >= 0 };
  struct iovec parts[] = { { &header, sizeof header },
    { (gpointer) data, size } };
  union {
    struct cmsghdr header;
    guint8 bytes[CMSG_SPACE (sizeof fd)];
  } control = { { 0 } };
  struct msghdr message = {
    .msg_iov = parts,
    .msg_iovlen = G_N_ELEMENTS (parts),
  };
  gboolean ok;

  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    spdl_packet_attach (&message, fd);
  }
  errno = size > SPDL_WIRE_MAX_SIZE ? EMSGSIZE : EPIPE;
  ok = size <= SPDL_WIRE_MAX_SIZE && self->socket >= 0 &&
       send_all (self, &message, flags);
  if (!ok)
    lose_message (self, errno);
  return ok;
}

gboolean
spdl_wire_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size, int fd)
{
  gboolean ok;

  if (!spdl_wire_is_own (self))
    return FALSE;
  spdl_mutex_lock (&self->lock);
  ok = send_message (self, type, data, size, fd, 0);
  spdl_mutex_unlock (&self->lock);
  return ok;
}

static void
set_send_timeout (SpdlWire *self, gint ms)
{
  const struct timeval time = { ms / 1000, ms % 1000 * 1000 };

  spdl_mutex_lock (&self->lock);
  setsockopt (self->socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_wire_send_patiently (SpdlWire *self, SpdlWireType type, gconstpointer data,
    gsize size, int fd, gint interval,
    gboolean (*may_go_on) (gpointer user_data), gpointer user_data)
{
  gboolean ok;

  self->may_go_on = may_go_on;
  self->user_data = user_data;
  set_send_timeout (self, interval);
  ok = spdl_wire_send (self, type, data, size, fd);
  set_send_timeout (self, 0);
  self->may_go_on = NULL;
  return ok;
}

/* Lock held. */
static gboolean
has_space (const SpdlWire *self)
{
  int n = 0;

  return self->socket < 0 || ioctl (self->socket, SIOCOUTQ, &n) != 0 ||
         n <= MAX_UNREAD;
}

gboolean
spdl_wire_try_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size)
{
  gboolean is_done;

  if (!spdl_wire_is_own (self))
    return TRUE;
  if (!spdl_mutex_trylock (&self->lock))
    return FALSE;
  is_done = has_space (self) &&
            (send_message (self, type, data, size, -1, MSG_DONTWAIT) ||
                errno != EAGAIN);
  spdl_mutex_unlock (&self->lock);
  return is_done;
}

gboolean
spdl_wire_send_u32 (SpdlWire *self, SpdlWireType type, guint32 value)
{
  return spdl_wire_send (self, type, &value, sizeof value, -1);
}

int
spdl_wire_get_problem (SpdlWire *self)
{
  int problem;

  spdl_mutex_lock (&self->lock);
  problem = self->problem;
  spdl_mutex_unlock (&self->lock);
  return problem;
}

void
spdl_wire_shut (SpdlWire *self)
{
  /* Called without the lock, which a thread that waits for free space may
   * hold. The socket is closed only by the same thread, or with the last
   * reference. */
  if (spdl_wire_is_own (self) && self->socket >= 0)
    shutdown (self->socket, SHUT_RDWR);
}

void
spdl_wire_close (SpdlWire *self)
{
  spdl_mutex_lock (&self->lock);
  if (self->socket >= 0)
    close (self->socket);
  self->socket = -1;
  spdl_mutex_unlock (&self->lock);
}
