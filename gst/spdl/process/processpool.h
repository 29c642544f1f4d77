/* gst-spdl: pool of worker processes that call a function
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "gst/spdl/process/forkserver.h"

G_BEGIN_DECLS

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
 * @cancellable: of the stage, the same for all calls; a worker that is still
 *     busy 0.1 s after it was cancelled is killed
 * @cpu_time: (out): that the worker used, in ns
 * @error: set, in addition to a result that denotes a failure, if no worker can
 *     be forked any more
 * Returns: (transfer full) (nullable) */
SPDL_PRIVATE_API
GstSample *gst_spdl_process_pool_call (SpdlProcessPool *self, GstSample *sample,
    guint64 timeout, GCancellable *cancellable, guint64 *cpu_time,
    GError **error);

G_END_DECLS
