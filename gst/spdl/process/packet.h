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

/* Messages of a SOCK_SEQPACKET socket, which arrive whole. These functions
 * wait. They return FALSE with @error set on failure: G_IO_ERROR_CLOSED if the
 * other process has closed the socket. */

/* @fd: (transfer none): a descriptor to attach, or -1
 * @watch: (nullable): of the other process, for the time in which it does not
 *     receive other messages; G_IO_ERROR_TIMED_OUT if it was killed */
SPDL_PRIVATE_API
gboolean spdl_packet_send (int socket, gconstpointer data, gsize size, int fd,
    SpdlProcessWatch *watch, GError **error);

/* Writes the control data of a message, for which there is space, so that it
 * carries @fd. Also for other sockets. */
SPDL_PRIVATE_API
void spdl_packet_attach (struct msghdr *header, int fd);

/* @size: the size of the message; another one is an error
 * @fd: (out) (transfer full): the attached descriptor, or -1 */
SPDL_PRIVATE_API
gboolean spdl_packet_receive (
    int socket, gpointer data, gsize size, int *fd, GError **error);

G_END_DECLS
