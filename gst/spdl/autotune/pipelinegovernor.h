/* gst-spdl: CPU budget of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"
#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* CPU time of streaming threads. These threads belong to pools that several
 * pipelines share, so only the time between entering and leaving this pipeline
 * counts. Each thread announces both with a STREAM_STATUS message. */
typedef struct {
  SpdlMutex lock; /* innermost lock */
  GArray *running;
  guint64 of_ended; /* CPU time of threads that have left, in ns */
} GstSpdlThreadTimes;

SPDL_PRIVATE_API
void gst_spdl_thread_times_init (GstSpdlThreadTimes *self);
SPDL_PRIVATE_API
void gst_spdl_thread_times_clear (GstSpdlThreadTimes *self);

/* Handles a message of the pipeline, in the thread that posts it. */
SPDL_PRIVATE_API
void gst_spdl_thread_times_take_message (
    GstSpdlThreadTimes *self, GstMessage *message);

/* Returns the CPU time of all streaming threads since the first message, in ns.
 * Callable from any thread. */
guint64 gst_spdl_thread_times_get (GstSpdlThreadTimes *self);

/* Returns: (transfer full): gst_spdl_dup_cpu_stats() with the CPU time of the
 * threads that load, other than the workers of stages, as `loading-time` */
SPDL_PRIVATE_API
GstStructure *gst_spdl_thread_times_get_cpu_stats (GstSpdlThreadTimes *self);

/* Enforces the `cpu-budget` of a pipeline, using the account of governor.h. It
 * throttles the stage whose tasks use the most CPU time, which slows down the
 * whole pipeline, and other stages that compute only if that does not suffice.
 * The property `concurrency` does not change. A thread checks the account 50
 * times per second. */

typedef struct _GstSpdlGovernor GstSpdlGovernor;

/* Creates a governor for the current stages of @pipeline. @budget is a share of
 * all cores. */
SPDL_PRIVATE_API
GstSpdlGovernor *gst_spdl_governor_new (GstBin *pipeline, gdouble budget);
SPDL_PRIVATE_API
void gst_spdl_governor_free (GstSpdlGovernor *self);

/* Counts the CPU time of the pipeline's streaming threads, in addition to that
 * of the stages' workers. Must be called before the start.
 *
 * @threads: not owned */
SPDL_PRIVATE_API
void gst_spdl_governor_set_threads (
    GstSpdlGovernor *self, GstSpdlThreadTimes *threads);

/* Sets another function that measures CPU time. Use the CPU time of the process
 * if it runs nothing else. Must be called before the start.
 *
 * @get_cpu_time: returns ns; called from any thread */
SPDL_PRIVATE_API
void gst_spdl_governor_set_clock (
    GstSpdlGovernor *self, guint64 (*get_cpu_time) (void));

/* Sets the budget with immediate effect. Callable from any thread. */
SPDL_PRIVATE_API
void gst_spdl_governor_set_budget (GstSpdlGovernor *self, gdouble budget);

/* Start before the pipeline changes to PAUSED, and stop before it changes to
 * NULL, which lifts all limits. Returns FALSE with @error set (%G_THREAD_ERROR)
 * if there can be no thread. */
SPDL_PRIVATE_API
gboolean gst_spdl_governor_start (GstSpdlGovernor *self, GError **error);
SPDL_PRIVATE_API
void gst_spdl_governor_stop (GstSpdlGovernor *self);

G_END_DECLS
