/* gst-spdl: message reader of the socket
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/wirereader.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM (64 * 1024)

void
spdl_wire_reader_clear (SpdlWireReader *self)
{
  for (guint i = 0; i < self->n_fds; i++)
    close (self->fds[i]);
  g_free (self->data);
  *self = (SpdlWireReader){ NULL };
}

static void
make_room (SpdlWireReader *self, gsize size)
{
  if (self->begin == self->end)
    self->begin = self->end = 0;
  if (self->capacity - self->end >= size)
    return;
  if (self->begin > 0) {
    memmove (self->data, self->data + self->begin, self->end - self->begin);
    self->end -= self->begin;
    self->begin = 0;
  }
  while (self->capacity - self->end < size) {
    self->capacity = MAX (2 * self->capacity, 2 * ROOM);
    self->data = g_realloc (self->data, self->capacity);
  }
}

static void
take_fds (SpdlWireReader *self, struct cmsghdr *control)
{
  const guint n = (control->cmsg_len - CMSG_LEN (0)) / sizeof (int);
  int fd;

  for (guint i = 0; i < n; i++) {
    memcpy (&fd, CMSG_DATA (control) + i * sizeof fd, sizeof fd);
    if (self->n_fds < SPDL_WIRE_READER_MAX_FDS) {
      self->fds[self->n_fds++] = fd;
    } else {
      close (fd);
      self->lost_fds = TRUE;
    }
  }
}

gssize
spdl_wire_reader_fill (SpdlWireReader *self, int socket)
{
  union {
    struct cmsghdr header;
    guint8 bytes[CMSG_SPACE (SPDL_WIRE_READER_MAX_FDS * sizeof (int))];
  } control;
  struct msghdr message = { 0 };
  struct iovec part;
  gssize n;

  make_room (self, ROOM);
  part = (struct iovec){ self->data + self->end, self->capacity - self->end };
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  do
    n = recvmsg (socket, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return n;
  for (struct cmsghdr *c = CMSG_FIRSTHDR (&message); c;
       c = CMSG_NXTHDR (&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
      take_fds (self, c);
  self->lost_fds |= (message.msg_flags & MSG_CTRUNC) != 0;
  self->end += n;
  return n;
}

void
spdl_wire_reader_feed (SpdlWireReader *self, gconstpointer data, gsize size)
{
  if (size == 0)
    return;
  make_room (self, size);
  memcpy (self->data + self->end, data, size);
  self->end += size;
}

static gboolean
is_known (guint32 type, gboolean to_worker)
{
  return to_worker ? type >= SPDL_WIRE_START && type <= SPDL_WIRE_STOP
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
  else if (header->size > SPDL_WIRE_MAX_SIZE || header->num_fds > 1)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "a message of %u bytes and %u descriptors is too large", header->size,
        header->num_fds);
  else
    return TRUE;
  return FALSE;
}

static gboolean
take_fd (SpdlWireReader *self, int *fd, GError **error)
{
  if (self->lost_fds || self->n_fds == 0) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "a descriptor is missing");
    return FALSE;
  }
  *fd = self->fds[0];
  memmove (self->fds, self->fds + 1, --self->n_fds * sizeof *self->fds);
  return TRUE;
}

SpdlWireStatus
spdl_wire_reader_next (SpdlWireReader *self, gboolean to_worker,
    SpdlWireMessage *message, GError **error)
{
  SpdlWireHeader header;

  if (self->end - self->begin < sizeof header)
    return SPDL_WIRE_NONE;
  memcpy (&header, self->data + self->begin, sizeof header);
  if (!check_header (&header, to_worker, error))
    return SPDL_WIRE_BROKEN;
  if (self->end - self->begin - sizeof header < header.size)
    return SPDL_WIRE_NONE;
  message->fd = -1;
  if (header.num_fds > 0 && !take_fd (self, &message->fd, error))
    return SPDL_WIRE_BROKEN;
  message->type = header.type;
  message->data = self->data + self->begin + sizeof header;
  message->size = header.size;
  self->begin += sizeof header + header.size;
  return SPDL_WIRE_ONE;
}
