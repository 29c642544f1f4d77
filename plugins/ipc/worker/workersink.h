/* gst-spdl: sink of a worker's pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/base/gstbasesink.h>

#include "plugins/ipc/wire/bell.h"
#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

/* A sink that sends buffers to the parent process. It offers upstream memory
 * that the parent process maps; buffers in this memory are not copied. When all
 * slabs are in use, it blocks. */

#define TYPE_WORKER_SINK (worker_sink_get_type ())
G_DECLARE_FINAL_TYPE (WorkerSink, worker_sink, WORKER, SINK, GstBaseSink)

/* @wire: borrowed
 * @bell: (transfer full): rings when the parent process has returned a slab */
WorkerSink *worker_sink_new (SpdlWire *wire, SpdlBell *bell, guint n_slabs);

/* Handles a message of the parent process. Returns FALSE if it is invalid. Can
 * be called from any thread. */
gboolean worker_sink_add_credit (WorkerSink *self, guint32 n);

/* Sends EOS if it was not sent. Call it when no more data will arrive. */
void worker_sink_end (WorkerSink *self);

G_END_DECLS
