/* gst-spdl: connection to a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/element/restart.h"
#include "plugins/ipc/element/workermessage.h"
#include "plugins/ipc/wire/workerconfig.h"

G_BEGIN_DECLS

/* A worker process, and a thread that starts it, reads its messages and
 * collects its exit status. Messages for the stream are queued; their number is
 * limited by the number of slabs and SPDL_WORKER_CONFIG_MAX_EVENTS. Messages
 * for the bus are posted immediately. */
typedef struct _SpdlWorkerConnection SpdlWorkerConnection;

/* Starts the thread, which starts the process.
 * @element: posts messages; must outlive the connection
 * @environment: (transfer full): environment of the process
 * @config: serialized during the call
 * @base: added to the numbers of its sources
 * @timeout: time without progress after which the process is killed, in ns; 0:
 *     no limit
 * @restart: (nullable): decides which reports of failed items are posted
 * Returns: NULL with @error set on failure */
SpdlWorkerConnection *spdl_worker_connection_new (GstElement *element,
    GStrv environment, const SpdlWorkerConfig *config, guint32 base,
    guint64 timeout, SpdlRestart *restart, GError **error);
/* Stops the process: asks it to stop, so that it sends its statistics, and
 * kills it after a timeout. */
void spdl_worker_connection_stop (SpdlWorkerConnection *self);
/* Stops the process and drops queued messages. */
void spdl_worker_connection_free (SpdlWorkerConnection *self);

typedef enum {
  SPDL_WORKER_CONNECTION_PLAYS,
  SPDL_WORKER_CONNECTION_FAILED, /* its pipeline failed */
  SPDL_WORKER_CONNECTION_DIED,
  SPDL_WORKER_CONNECTION_INTERRUPTED,
} SpdlWorkerConnectionStatus;

/* Waits until the worker's pipeline is in PLAYING.
 * @failure: (out) (transfer full): message to post if the pipeline failed
 * @why: (out) (transfer full): reason if the process died */
SpdlWorkerConnectionStatus spdl_worker_connection_wait (
    SpdlWorkerConnection *self, GstMessage **failure, gchar **why);

/* Returns: (transfer full) (nullable): class names of the sources of a playing
 * pipeline */
GStrv spdl_worker_connection_dup_classes (SpdlWorkerConnection *self);

/* Waits for the next message.
 * Returns: (transfer full): NULL if interrupted */
SpdlWorkerMessage *spdl_worker_connection_take (SpdlWorkerConnection *self);

/* Interrupts waiting calls, and later ones until it is called again with FALSE.
 * Can be called from any thread. */
void spdl_worker_connection_interrupt (
    SpdlWorkerConnection *self, gboolean interrupted);

/* Changes the CPU budget of a process that was started with one. Takes effect
 * immediately. */
void spdl_worker_connection_set_cpu_budget (
    SpdlWorkerConnection *self, gdouble budget);

guint spdl_worker_connection_get_pid (SpdlWorkerConnection *self);

/* Returns the time for which the process has neither answered nor used CPU
 * time, in ns. */
guint64 spdl_worker_connection_get_silence (SpdlWorkerConnection *self);

/* Returns the current statistics of the worker's elements, or the last ones
 * received.
 * Returns: (transfer full) (nullable) (element-type GstStructure): not to be
 * changed */
GPtrArray *spdl_worker_connection_dup_figures (SpdlWorkerConnection *self);

G_END_DECLS
