/* gst-spdl: the pipeline of a worker
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/order.h"
#include "plugins/ipc/worker/workersink.h"

G_BEGIN_DECLS

/* Makes it as @order says, with @sink behind its open pad.
 *
 * Returns: (transfer full): NULL with @error set if it is none */
GstPipeline *
worker_pipeline_new (const SpdlOrder *order, WorkerSink *sink, GError **error);

/* The figures of its elements, from the sources on: a number, and structures.
 */
void worker_pipeline_put_figures (GstPipeline *pipeline, GByteArray *bytes);

G_END_DECLS
