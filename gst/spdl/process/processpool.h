/* gst-spdl: pool of worker processes that call a function, and the
 * process that forks them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "gst/spdl/process/processlink.h"

G_BEGIN_DECLS

/* Connection to a process with one thread, which forks workers on request and
 * collects their status. It is written in Python: see _worker.py. A request and
 * its response are messages of a SOCK_SEQPACKET socket:
 *
 *     gint32 operation    SpdlForkOperation
 *     gint32 argument     number of the worker, or a process ID
 *
 *     gint32 value        process ID, or status of waitpid(); -errno on failure
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

/* Has the process, and workers that it forks later, killed if they owe an
 * answer and make no progress.
 *
 * @pid: of the process, or of the one that starts it
 * @timeout: in ns, 0: never */
SPDL_PRIVATE_API
void
gst_spdl_fork_server_watch (SpdlForkServer *self, gint32 pid, guint64 timeout);
/* Looks at the process while it starts. See gst_spdl_process_link_look(). */
SPDL_PRIVATE_API
gchar *gst_spdl_fork_server_look (SpdlForkServer *self);

/* Forks a worker. Returns: (transfer full): NULL with @error set on failure */
SPDL_PRIVATE_API
SpdlProcessLink *gst_spdl_fork_server_begin (
    SpdlForkServer *self, guint number, gint32 *pid, GError **error);
/* Waits for the end of a worker, whose link was freed, and collects its status.
 *
 * @kill_now: FALSE: it gets a second to end by itself
 * @status: (out) (nullable): as of waitpid(); negative: unknown
 * Returns: (transfer full): how it ended: "was killed by signal 9 (Killed)" */
SPDL_PRIVATE_API
gchar *gst_spdl_fork_server_end (
    SpdlForkServer *self, gint32 pid, gboolean kill_now, gint32 *status);

/* The threads of a stage hand items to worker processes, and wait for the
 * results. A worker serves one thread at a time. It is forked when it is first
 * needed, and again after it ended. Thread-safe. */
typedef struct _SpdlProcessPool SpdlProcessPool;

/* @server: (transfer full) */
SPDL_PRIVATE_API
SpdlProcessPool *gst_spdl_process_pool_new (SpdlForkServer *server, guint size);
/* No call may be running. */
SPDL_PRIVATE_API
void gst_spdl_process_pool_free (SpdlProcessPool *self);

/* Replaces the server and all workers. No call may be running.
 * @server: (transfer full) */
SPDL_PRIVATE_API
void gst_spdl_process_pool_set_server (
    SpdlProcessPool *self, SpdlForkServer *server);

/* Has a worker process an item, like the signal `process` of spdlpipe. If the
 * worker ends before it has the result, another worker gets the item once.
 *
 * @timeout: in ns, 0: none; a worker that takes longer is killed
 * @worker_timeout: in ns, 0: none; a worker that makes no progress for this
 *     time is killed
 * @cancellable: of the stage, the same for all calls; a worker that is still
 *     busy 0.1 s after it was cancelled is killed
 * @cpu_time: (out): that the worker used, in ns
 * @error: set, in addition to a result that denotes a failure, if no worker can
 *     be forked any more
 * Returns: (transfer full) (nullable) */
SPDL_PRIVATE_API
GstSample *gst_spdl_process_pool_call (SpdlProcessPool *self, GstSample *sample,
    guint64 timeout, guint64 worker_timeout, GCancellable *cancellable,
    guint64 *cpu_time, GError **error);

G_END_DECLS
