/* gst-spdl: trace of tasks and waits
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Writes what each thread does to a file, as Chrome trace events, which
 * Perfetto and chrome://tracing show. An element asks for its track when it
 * starts, so tracing costs one comparison where it is off.
 *
 * Events are collected per thread. Another thread formats and writes them. If
 * it cannot keep up, events are dropped and counted. */

typedef enum {
  SPDL_TRACE_TASK,
  SPDL_TRACE_ASYNC_TASK, /* may overlap with others of its thread */
  SPDL_TRACE_PUSH,       /* of a result, downstream */
  SPDL_TRACE_NO_ITEM,    /* wait of a worker */
  SPDL_TRACE_NO_ROOM,    /* wait for room in a queue */
  SPDL_TRACE_NO_RESULT,  /* wait for a result to push */
  SPDL_TRACE_NO_BATCH,   /* wait of the trainer */
  SPDL_TRACE_STEP,       /* of the trainer */
} SpdlTraceKind;

/* Starts to write to @path. There is one trace per process at a time. */
gboolean spdl_trace_start (const gchar *path, GError **error);

/* Writes what is left and closes the file. Events that arrive later are
 * ignored.
 *
 * @n_dropped: (out) (optional): number of dropped events
 *
 * Returns FALSE if the file could not be written. */
gboolean spdl_trace_stop (guint64 *n_dropped, GError **error);

/* Returns: (transfer none) (nullable): the track for the events of @element;
 * NULL if no trace is written */
const gchar *spdl_trace_get_track (const gchar *element);

/* Adds an event of this thread.
 *
 * @begin, @end: in ns of the monotonic clock
 * @number: sequence number of the first item, or G_MAXUINT64
 * @n_items: number of items, or 0 */
void spdl_trace_add (const gchar *track, SpdlTraceKind kind, guint64 begin,
    guint64 end, guint64 number, guint n_items);

SPDL_END_PRIVATE_API
G_END_DECLS
