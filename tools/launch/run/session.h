/* gst-spdl-launch: one run of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/parts.h"
#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

typedef struct _Session Session;

/* Zeros are no limits. */
typedef struct {
  guint64 interval; /* ns between two snapshots */
  guint64 duration; /* ns */
  guint64 max_batches;
  gint64 max_failures; /* of all stages; -1: no limit */
  guint64 step;        /* ns that the trainer takes for a batch */
  /* What does not count as steady, from the start on: ns, and batches. */
  guint64 warm_up;
  guint64 skip_batches;
  guint64 steady;    /* ns of what does, where that ends the run */
  double cpu_budget; /* a share of all cores */
} SessionLimits;

typedef enum {
  SESSION_RUNS,
  SESSION_ENDED,       /* all came */
  SESSION_LIMITED,     /* by duration or batches */
  SESSION_INTERRUPTED, /* Ctrl-C */
  SESSION_FAILED,
} SessionEnd;

typedef struct {
  /* An interval is over. @snapshot is the session's. */
  void (*snapshot) (
      Session *session, const Snapshot *snapshot, gpointer user_data);
  /* @failure: a `spdl-item-failed` structure. */
  void (*failure) (
      Session *session, const GstStructure *failure, gpointer user_data);
  /* An element warns. */
  void (*warning) (Session *session, const gchar *element, const gchar *text,
      gpointer user_data);
  /* @decision: a `spdl-tuning` structure. */
  void (*tuning) (
      Session *session, const GstStructure *decision, gpointer user_data);
} SessionFuncs;

/* @description: as the arguments of gst-launch. @settings: (nullable):
 * ELEMENT.PROPERTY=VALUE each. */
Session *session_new (gchar **description, gchar **settings, GError **error);
/* The same with an spdlcache before its spdlsink, which hands out the batches
 * from number @n_batches on. */
Session *session_new_cached (
    gchar **description, gchar **settings, guint n_batches, GError **error);
/* @pipeline: (transfer full): a pipeline that is put together. */
Session *session_new_for (GstElement *pipeline);
void session_free (Session *self);

/* Whether the pipeline can be run with them. */
gboolean session_check_limits (
    Session *self, const SessionLimits *limits, GError **error);

/* Runs to the end, a limit, an error or Ctrl-C. @funcs: (nullable). Returns
 * FALSE after an error. Once. */
gboolean session_run (Session *self, const SessionLimits *limits,
    const SessionFuncs *funcs, gpointer user_data, GError **error);

SessionEnd session_get_end (Session *self);
GPtrArray *session_get_parts (Session *self);
/* Of all intervals, thinned out where there are many; (element-type Snapshot).
 */
GPtrArray *session_get_snapshots (Session *self);
/* (transfer full): the last interval's figures, but the elements' since the
 * start.
 */
Snapshot *session_dup_totals (Session *self, const Snapshot *interval);
/* Of the whole run; NULL before its end. */
const Snapshot *session_get_result (Session *self);
/* The first hundred; (element-type GstStructure). */
GPtrArray *session_get_failures (Session *self);
/* The first hundred, with `time` in seconds; (element-type GstStructure). */
GPtrArray *session_get_tuning (Session *self);
/* Items a second after the warm-up. */
double session_get_steady_rate (Session *self);
/* Seconds from one batch to the next after the warm-up; 0: there were too few.
 * @wait: (out): how much of that the trainer waited */
double session_get_batch_time (Session *self, double *wait);
/* Where the pipeline is: as text for gst-launch. */
const gchar *session_get_description (Session *self);
GstElement *session_get_pipeline (Session *self);

G_END_DECLS
