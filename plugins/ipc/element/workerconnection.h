/* gst-spdl: a running worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/element/workermessage.h"
#include "plugins/ipc/wire/workerconfig.h"

G_BEGIN_DECLS

/* One process from its start to its end, and a thread here that starts it,
 * reads what it sends, and learns how it ended. What is for the stream waits as
 * messages, of which there are no more than slabs and
 * SPDL_WORKER_CONFIG_MAX_EVENTS; what is for the bus is posted at once. */
typedef struct _SpdlWorkerConnection SpdlWorkerConnection;

/* Starts the thread, and by it the process.
 *
 * @element: which posts messages; outlives the link
 * @environment: (transfer full): of the process
 * @config: copied into a message
 * @base: what is added to the numbers of its sources */
SpdlWorkerConnection *spdl_worker_connection_new (GstElement *element,
    GStrv environment, const SpdlWorkerConfig *config, guint32 base);
/* Ends the process: asks it to stop, so that it reports, and kills it if it has
 * not done so after a while. */
void spdl_worker_connection_stop (SpdlWorkerConnection *self);
/* Stops it; what waits is given back. */
void spdl_worker_connection_free (SpdlWorkerConnection *self);

typedef enum {
  SPDL_WORKER_CONNECTION_PLAYS,
  SPDL_WORKER_CONNECTION_FAILED, /* its pipeline cannot */
  SPDL_WORKER_CONNECTION_DIED,
  SPDL_WORKER_CONNECTION_INTERRUPTED,
} SpdlWorkerConnectionStatus;

/* Waits until the worker's pipeline plays.
 *
 * @failure: (out) (transfer full): the message to post, if it has failed
 * @why: (out) (transfer full): how it died, if it has */
SpdlWorkerConnectionStatus spdl_worker_connection_wait (
    SpdlWorkerConnection *self, GstMessage **failure, gchar **why);

/* Returns: (transfer full) (nullable): the class names of the sources of a
 * pipeline that plays */
GStrv spdl_worker_connection_dup_classes (SpdlWorkerConnection *self);

/* Waits for what comes next. Returns: (transfer full): NULL if it was
 * interrupted */
SpdlWorkerMessage *spdl_worker_connection_take (SpdlWorkerConnection *self);

/* From any thread: whoever waits does not, and nor do later calls, until it is
 * taken back. */
void spdl_worker_connection_interrupt (
    SpdlWorkerConnection *self, gboolean interrupted);

/* Where the process keeps a budget, another one; at once. */
void spdl_worker_connection_set_cpu_budget (
    SpdlWorkerConnection *self, gdouble budget);

guint spdl_worker_connection_get_pid (SpdlWorkerConnection *self);

/* The figures of the worker's elements: of now, or the last that it told.
 *
 * Returns: (transfer full) (element-type GstStructure) */
GPtrArray *spdl_worker_connection_dup_figures (SpdlWorkerConnection *self);

G_END_DECLS
