/* gst-spdl: what the tests of workers share
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* A pipeline with elements named `worker` and `sink`. */
GstElement *worker_make (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void worker_play (GstElement *pipeline);
/* Stops it, and frees it. */
void worker_stop (GstElement *pipeline);

/* Plays, and waits for the end, which must be a good one. */
void worker_run_to_end (GstElement *pipeline);

/* Plays, and takes all from its appsink, or what comes before an error.
 * Returns: (element-type GstBuffer) */
GPtrArray *worker_pull_all (GstElement *pipeline);
/* Returns: (transfer full) (nullable) */
GstBuffer *worker_pull (GstElement *pipeline);
void worker_drop_batches (GstElement *pipeline, guint n);

/* Returns: (transfer full): the text of the error, which must be the only one
 * (waits for it) */
gchar *worker_take_error (GstElement *pipeline);
guint worker_count_warnings (GstElement *pipeline);

guint64 worker_get_figure (GstElement *pipeline, const gchar *name);
pid_t worker_get_pid (GstElement *pipeline);
/* No process, or one that has ended, is not. */
gboolean worker_is_alive (pid_t pid);

/* Each item 0 to @n - 1 of one epoch is in these batches once, and its bytes
 * are its own: the tensor `indices` says so. */
void worker_assert_items_once (GPtrArray *batches, guint n);

/* SPDL_CYCLES in the environment, or @usual; fewer with the sanitizers. */
guint worker_get_cycles (guint usual);

/* What a process leaves behind. */
typedef struct {
  guint n_fds;
  guint n_threads;
  guint n_slabs; /* mapped */
  guint n_children;
} WorkerTraces;

WorkerTraces worker_get_traces (void);
/* There are no more than before, after a while at most. */
void worker_assert_traces (const WorkerTraces *before);

G_END_DECLS
