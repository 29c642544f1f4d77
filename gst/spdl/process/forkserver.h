/* gst-spdl: process that forks workers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/process/processlink.h"

G_BEGIN_DECLS

/* Connection to a process with one thread, which forks workers on request and
 * collects their status. It is written in Python: see _worker.py. A request and
 * its response are messages of a SOCK_SEQPACKET socket:
 *
 *     gint32 operation    SpdlForkOperation
 *     gint32 argument     number of the worker, or a process ID
 *
 *     gint32 value        process ID, or status of waitpid(); if negative,
 * errno
 *
 * The process ends, and its workers with it, when the socket is closed.
 * Thread-safe. */
typedef struct _SpdlForkServer SpdlForkServer;

typedef enum {
  SPDL_FORK_BEGIN = 1, /* with a socket for the worker */
  SPDL_FORK_COLLECT,   /* waits for the end of the worker; kills it after 1 s */
} SpdlForkOperation;

/* @socket: (transfer full) */
SPDL_PRIVATE_API
SpdlForkServer *gst_spdl_fork_server_new (int socket);
SPDL_PRIVATE_API
void gst_spdl_fork_server_free (SpdlForkServer *self);

/* Forks a worker. Returns: (transfer full): NULL with @error set on failure */
SPDL_PRIVATE_API
SpdlProcessLink *gst_spdl_fork_server_begin (
    SpdlForkServer *self, guint number, gint32 *pid, GError **error);
/* Waits for the end of a worker, whose link was freed, and collects its status.
 *
 * @kill_now: FALSE: it gets a second to end by itself
 * Returns: (transfer full): how it ended: "was killed by signal 9 (Killed)" */
SPDL_PRIVATE_API
gchar *
gst_spdl_fork_server_end (SpdlForkServer *self, gint32 pid, gboolean kill_now);

G_END_DECLS
