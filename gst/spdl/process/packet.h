/* gst-spdl: messages with a file descriptor
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/socket.h>

#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/process/processwatch.h"

G_BEGIN_DECLS

/* Messages of a SOCK_SEQPACKET socket, which arrive whole: those of a process
 * that is killed were sent, or were not. */

/* Creates the two ends of a socket for a worker process. */
SPDL_PRIVATE_API
gboolean spdl_packet_open (int sockets[2], GError **error);
/* Sets the error of a connection for which there is no descriptor; errno is
 * set. */
SPDL_PRIVATE_API
void spdl_packet_set_no_connection (GError **error);

/* Sends a message that consists of @parts.
 *
 * @fd: (transfer none): a descriptor to attach, or -1
 * @flags: MSG_DONTWAIT, or 0 to wait while the socket is full
 * Returns 0, or an error number */
SPDL_PRIVATE_API
int spdl_packet_put (
    int socket, const struct iovec *parts, guint n_parts, int fd, int flags);
/* Receives a message of at most @size bytes.
 *
 * @fd: (out) (transfer full): the attached descriptor, or -1
 * Returns its size, 0 if the other process has closed the socket, or -1 with
 * errno set; EMSGSIZE: the message is larger */
SPDL_PRIVATE_API
gssize
spdl_packet_get (int socket, gpointer data, gsize size, int flags, int *fd);
/* Returns whether an error number means that the other process has ended. */
SPDL_PRIVATE_API
gboolean spdl_packet_is_closed (int problem);

/* The following functions wait. They return FALSE with @error set on failure:
 * G_IO_ERROR_CLOSED if the other process has closed the socket. */

/* @fd: (transfer none): a descriptor to attach, or -1
 * @watch: (nullable): of the other process, for the time in which it does not
 *     receive other messages; G_IO_ERROR_TIMED_OUT if it was killed */
SPDL_PRIVATE_API
gboolean spdl_packet_send (int socket, gconstpointer data, gsize size, int fd,
    SpdlProcessWatch *watch, GError **error);

/* @size: the size of the message; another one is an error
 * @fd: (out) (transfer full): the attached descriptor, or -1 */
SPDL_PRIVATE_API
gboolean spdl_packet_receive (
    int socket, gpointer data, gsize size, int *fd, GError **error);

G_END_DECLS
