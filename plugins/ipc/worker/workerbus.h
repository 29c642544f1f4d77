/* gst-spdl: what a worker's pipeline posts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/worker/workersink.h"

G_BEGIN_DECLS

/* Sends messages to the other process. After an error it brings the pipeline to
 * its end, as a loader does, so that what was done comes to the sink: sources
 * end, and so does what lies behind the element that failed. */
typedef struct _WorkerBus WorkerBus;

/* All is borrowed, and outlives it. */
WorkerBus *
worker_bus_new (GstPipeline *pipeline, WorkerSink *sink, SpdlWire *wire);
/* The pipeline must be in the NULL state. */
void worker_bus_free (WorkerBus *self);

G_END_DECLS
