/* gst-spdl: end of a worker's pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/base/gstbasesink.h>

#include "plugins/ipc/wire/mailbox.h"
#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

/* A sink that sends what comes to the other process. It offers upstream memory
 * that the other maps; what lies in it already is not copied. At most so many
 * slabs are there at a time: then it waits, and so does upstream. */

#define TYPE_WORKER_SINK (worker_sink_get_type ())
G_DECLARE_FINAL_TYPE (WorkerSink, worker_sink, WORKER, SINK, GstBaseSink)

/* @wire: borrowed
 * @mailbox: (transfer full): where slabs come back that are waited for */
WorkerSink *
worker_sink_new (SpdlWire *wire, SpdlMailbox *mailbox, guint n_slabs);

/* What the other process says; FALSE if that cannot be. From any thread. */
gboolean worker_sink_release (WorkerSink *self, guint32 slab);
gboolean worker_sink_add_credit (WorkerSink *self, guint32 n);

/* Sends an end of the stream if none was sent, when none will come any more. */
void worker_sink_end (WorkerSink *self);

G_END_DECLS
