/* gst-spdl: CPU time of the streaming threads of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"
#include "gst/spdl/engine/visibility.h"

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

G_END_DECLS
