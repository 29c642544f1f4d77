/* gst-spdl: helpers of the tests of worker processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Returns: (transfer full): a pipeline with elements named `worker` and
 * `sink` */
GstElement *worker_make (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
void worker_play (GstElement *pipeline);
/* Sets @pipeline to NULL and frees it. */
void worker_stop (GstElement *pipeline);

/* Plays @pipeline until EOS; an error fails the test. */
void worker_run_to_end (GstElement *pipeline);

/* Plays @pipeline and pulls all batches from its appsink, until EOS or an
 * error.
 * Returns: (element-type GstBuffer) */
GPtrArray *worker_pull_all (GstElement *pipeline);
/* Returns: (transfer full) (nullable) */
GstBuffer *worker_pull (GstElement *pipeline);
void worker_drop_batches (GstElement *pipeline, guint n);

/* Waits for the only error on the bus.
 * Returns: (transfer full): its message */
gchar *worker_take_error (GstElement *pipeline);
guint worker_count_warnings (GstElement *pipeline);

guint64 worker_get_figure (GstElement *pipeline, const gchar *name);
pid_t worker_get_pid (GstElement *pipeline);
/* Returns whether @pid exists and is not a zombie. */
gboolean worker_is_alive (pid_t pid);

/* Checks that each item from 0 to @n - 1 of one epoch is in these batches once,
 * with its own data. The tensor `indices` identifies the items. */
void worker_assert_items_once (GPtrArray *batches, guint n);

/* Returns SPDL_CYCLES from the environment, or @usual, which is reduced with
 * sanitizers. */
guint worker_get_cycles (guint usual);

/* Counts of resources that a leak would increase. */
typedef struct {
  guint n_fds;
  guint n_threads;
  guint n_slabs; /* mappings */
  guint n_children;
} WorkerTraces;

WorkerTraces worker_get_traces (void);
/* Waits until the counts have returned to @before. */
void worker_assert_traces (const WorkerTraces *before);

G_END_DECLS
