/* gst-spdl-launch: snapshot of a pipeline's statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Statistics of an interval or of the whole run, for all views. */
typedef struct {
  gboolean interval;
  double time;            /* end, in s since the start */
  double elapsed;         /* duration in s */
  guint64 items, batches; /* since the start */
  guint64 failures, filtered;
  double progress;              /* fraction of the run; -1: unknown */
  double item_rate, batch_rate; /* per second, during `elapsed` */
  double cores;                 /* busy */
  guint num_cores;              /* available */
  guint64 memory;               /* in bytes */
  GPtrArray *stages; /* of GstStructure: elements with statistics, ordered from
                        source to sink */
  GstSpdlDiagnosis *diagnosis;
  GstSpdlDiagnosis *overall; /* since the start */
} Snapshot;

Snapshot *snapshot_new (void);
void snapshot_free (gpointer snapshot);

/* Return a field of a stage's statistics; 0 if it is missing. */
guint64 stats_get (const GstStructure *stats, const gchar *field);
guint stats_get_uint (const GstStructure *stats, const gchar *field);
double stats_get_double (const GstStructure *stats, const gchar *field);
const gchar *stats_get_name (const GstStructure *stats);
/* Returns a field of any type as a number; times in seconds. */
double stats_get_number (const GstStructure *stats, const gchar *field);
/* Formats a field in its unit: a count, a time, a rate or a share; "" if it is
 * missing. */
gchar *stats_format (const GstStructure *stats, const gchar *field);
/* Returns whether an element has the field. */
gboolean snapshot_has_field (const Snapshot *snapshot, const gchar *field);
/* Returns: (nullable): the statistics of an element */
const GstStructure *snapshot_find (const Snapshot *snapshot, const gchar *name);
/* Returns the statistics of the last element that measures training steps.
 * Returns: (nullable) */
const GstStructure *snapshot_get_trainer (const Snapshot *snapshot);
/* Returns the fraction of the task time that was CPU time. */
double stats_get_computing (const GstStructure *stats);
/* Returns the fraction of the worker time that was spent in tasks. */
double stats_get_busy (const GstStructure *stats);

/* Formats a duration in at most 9 columns: "0.79 ms", "12.3 s". */
gchar *format_ns (guint64 ns);
/* "123 MB" */
gchar *format_bytes (guint64 bytes);
/* "2510", "12.3", "0.52" */
gchar *format_rate (double rate);
gchar *format_count (guint64 n);
/* "12 %" */
gchar *format_percent (double share);
/* "1:02:03" */
gchar *format_clock (double seconds);

G_END_DECLS
