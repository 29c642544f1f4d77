/* gst-spdl-launch: statistics of a pipeline at one time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* What is shown, written and drawn: of an interval, or of the whole run. */
typedef struct {
  gboolean interval;
  double time;            /* s since the start, at its end */
  double elapsed;         /* s that it covers */
  guint64 items, batches; /* that came out, since the start */
  guint64 failures, filtered;
  double progress; /* share of the run that is over; -1: not known */
  double item_rate, batch_rate; /* a second, in the time that it covers */
  double cores;                 /* that were busy */
  guint num_cores;              /* that may be used */
  guint64 memory;               /* bytes */
  GPtrArray *stages; /* GstStructure: elements with figures, source first */
  GstSpdlDiagnosis *diagnosis;
} Snapshot;

Snapshot *snapshot_new (void);
void snapshot_free (gpointer snapshot);

/* Nanoseconds, counts and shares of a stage; 0 where it has no such field. */
guint64 stats_get (const GstStructure *stats, const gchar *field);
guint stats_get_uint (const GstStructure *stats, const gchar *field);
double stats_get_double (const GstStructure *stats, const gchar *field);
const gchar *stats_get_name (const GstStructure *stats);
/* Of the last element that knows of a trainer's steps; nullable. */
const GstStructure *snapshot_get_trainer (const Snapshot *snapshot);
/* The share of the tasks' time on a CPU. */
double stats_get_computing (const GstStructure *stats);
/* The share of the workers' time that went into tasks. */
double stats_get_busy (const GstStructure *stats);

/* In words of at most 9 columns: "0.79 ms", "12.3 s". */
gchar *format_ns (guint64 ns);
/* "123 MB" */
gchar *format_bytes (guint64 bytes);
/* "2510", "12.3", "0.52" */
gchar *format_rate (double rate);
/* "1:02:03" */
gchar *format_clock (double seconds);

G_END_DECLS
