/* gst-spdl: messages between the pipeline and its worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/wire.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gst/spdl/process/packet.h"
#include "gst/spdl/wire/memfd.h"

/* Sending */

/* spdl_wire_try_send() leaves the rest of the socket to messages that must be
 * sent. The kernel counts its own overhead, too. */
#define MAX_UNREAD 16384

SpdlWire *
spdl_wire_new (int socket)
{
  SpdlWire *self = g_new0 (SpdlWire, 1);

  self->pid = getpid ();
  self->socket = socket;
  spdl_mutex_init (&self->lock);
  return self;
}

void
spdl_wire_free (SpdlWire *self)
{
  close (self->socket);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Returns a file with the bytes, or a negative error number. */
static int
write_file (const guint8 *data, gsize size)
{
  const int fd = spdl_memfd_open (size);
  gssize n;

  if (fd < 0)
    return -errno;
  for (gsize at = 0; at < size; at += n)
    if ((n = pwrite (fd, data + at, size - at, at)) <= 0) {
      const int problem = n < 0 ? errno : EIO;

      close (fd);
      return -problem;
    }
  return fd;
}

/* Returns 0, or an error number. */
static int
put_message (SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size,
    int fd, int flags)
{
  SpdlWireHeader header = { SPDL_WIRE_MAGIC, type, size,
    fd >= 0 ? SPDL_WIRE_ATTACHED_FD : SPDL_WIRE_ATTACHED_NONE };
  const struct iovec parts[] = { { (gpointer) &header, sizeof header },
    { (gpointer) data, size } };
  int file, problem = EMSGSIZE;

  /* The system may have a lower limit. */
  if (size <= SPDL_WIRE_MAX_INLINE)
    problem = spdl_packet_put (self->socket, parts, 2, fd, flags);
  if (problem != EMSGSIZE || size > SPDL_WIRE_MAX_SIZE || fd >= 0)
    return problem;
  header.attached = SPDL_WIRE_ATTACHED_PAYLOAD;
  if ((file = write_file (data, size)) < 0)
    return -file;
  problem = spdl_packet_put (self->socket, parts, 1, file, flags);
  close (file);
  return problem;
}

/* A message that cannot be sent ends the connection, so that the peer does not
 * mistake a stream in which it is missing for a complete one. Lock held. */
static int
send_message (SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size,
    int fd, int flags)
{
  const int problem = put_message (self, type, data, size, fd, flags);

  if (problem == 0 || problem == EAGAIN || spdl_packet_is_closed (problem))
    return problem;
  if (self->problem == 0)
    self->problem = problem;
  spdl_wire_shut (self);
  return problem;
}

gboolean
spdl_wire_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size, int fd)
{
  int problem;

  if (self->pid != getpid ())
    return FALSE;
  spdl_mutex_lock (&self->lock);
  problem = send_message (self, type, data, size, fd, 0);
  spdl_mutex_unlock (&self->lock);
  return problem == 0;
}

gboolean
spdl_wire_try_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size)
{
  gboolean is_done;
  int unread = 0;

  if (self->pid != getpid ())
    return TRUE;
  if (!spdl_mutex_trylock (&self->lock))
    return FALSE;
  ioctl (self->socket, SIOCOUTQ, &unread);
  is_done = unread <= MAX_UNREAD &&
            send_message (self, type, data, size, -1, MSG_DONTWAIT) != EAGAIN;
  spdl_mutex_unlock (&self->lock);
  return is_done;
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
   * hold. */
  if (self->pid == getpid ())
    shutdown (self->socket, SHUT_RDWR);
}

/* Receiving */

void
spdl_wire_reader_clear (SpdlWireReader *self)
{
  g_clear_pointer (&self->large, g_free);
}

static gboolean
is_known (guint32 type, gboolean to_worker)
{
  return to_worker ? type >= SPDL_WIRE_BELL && type <= SPDL_WIRE_STOP
                   : type >= SPDL_WIRE_STARTED && type <= SPDL_WIRE_END;
}

static gboolean
check_header (const SpdlWireHeader *header, gboolean to_worker, GError **error)
{
  const guint32 other = header->magic ^ SPDL_WIRE_MAGIC;

  if (other != 0 && (other & 0x00ffffff) == 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "the other process uses protocol version %u, and this one %d: plugin "
        "and gst-spdl-worker are from different installations",
        header->magic >> 24, SPDL_WIRE_VERSION);
  else if (other != 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "%08x does not begin a message", header->magic);
  else if (!is_known (header->type, to_worker))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "message type %u is unknown in this direction", header->type);
  else if (header->size > SPDL_WIRE_MAX_SIZE)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "a message of %u bytes is too large", header->size);
  else
    return TRUE;
  return FALSE;
}

/* Does not trust the size: the memory is not needed if the file has less. */
static gboolean
read_file (SpdlWireReader *self, gsize size, int fd)
{
  gssize n = 0;

  if (lseek (fd, 0, SEEK_END) < (off_t) size ||
      !(self->large = g_try_malloc (size)))
    return FALSE;
  for (gsize at = 0; at < size; at += n)
    if ((n = pread (fd, self->large + at, size - at, at)) <= 0)
      return FALSE;
  return TRUE;
}

static gboolean
take_payload (SpdlWireReader *self, const SpdlWireHeader *header, gsize size,
    int *fd, SpdlWireMessage *message, GError **error)
{
  gboolean ok = header->size == size;

  message->data = self->packet + sizeof *header;
  if (header->attached != SPDL_WIRE_ATTACHED_NONE && *fd < 0) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "a descriptor is missing");
    return FALSE;
  }
  if (header->attached == SPDL_WIRE_ATTACHED_PAYLOAD) {
    ok = read_file (self, header->size, *fd);
    message->data = self->large;
  } else if (header->attached == SPDL_WIRE_ATTACHED_FD) {
    message->fd = *fd;
    *fd = -1;
  }
  if (!ok)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "a message of %u bytes is incomplete", header->size);
  return ok;
}

SpdlWireStatus
spdl_wire_reader_parse (SpdlWireReader *self, gsize size, int fd,
    gboolean to_worker, SpdlWireMessage *message, GError **error)
{
  SpdlWireHeader header = { 0 };
  gboolean ok;

  spdl_wire_reader_clear (self);
  memcpy (&header, self->packet, MIN (size, sizeof header));
  *message = (SpdlWireMessage){ header.type, NULL, header.size, -1 };
  ok = check_header (&header, to_worker, error) &&
       take_payload (self, &header, size - MIN (size, sizeof header), &fd,
           message, error);
  if (fd >= 0)
    close (fd);
  if (!ok && message->fd >= 0)
    close (message->fd);
  return ok ? SPDL_WIRE_ONE : SPDL_WIRE_BROKEN;
}

SpdlWireStatus
spdl_wire_reader_receive (SpdlWireReader *self, int socket, int flags,
    gboolean to_worker, SpdlWireMessage *message, GError **error)
{
  int fd;
  const gssize size =
      spdl_packet_get (socket, self->packet, sizeof self->packet, flags, &fd);

  if (size > 0)
    return spdl_wire_reader_parse (self, size, fd, to_worker, message, error);
  if (size == 0 || (errno != EAGAIN && errno != EMSGSIZE))
    return SPDL_WIRE_CLOSED;
  if (errno == EAGAIN)
    return SPDL_WIRE_NONE;
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
      "a message is too large");
  return SPDL_WIRE_BROKEN;
}
