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

typedef struct _Digest Digest;

typedef struct _Session Session;

/* Limits and options of a run. 0 means no limit. */
typedef struct {
  guint64 interval; /* between two snapshots, in ns */
  guint64 duration; /* ns */
  guint64 max_batches;
  gint64 max_failures; /* over all stages; -1: no limit */
  guint64 step;        /* simulated training step, ns per batch */
  /* Warm-up, excluded from the rates: in ns, and in batches. */
  guint64 warm_up;
  guint64 skip_batches;
  guint64 steady;    /* duration of the measurement after the warm-up, in ns */
  double cpu_budget; /* fraction of all cores */
  Digest *digest;    /* nullable: takes the batches */
} SessionLimits;

typedef enum {
  SESSION_RUNS,
  SESSION_ENDED,       /* end of the stream */
  SESSION_LIMITED,     /* limit of duration or batches */
  SESSION_INTERRUPTED, /* Ctrl-C */
  SESSION_FAILED,
} SessionEnd;

typedef struct {
  /* Called at the end of an interval. @snapshot is owned by the session. */
  void (*snapshot) (
      Session *session, const Snapshot *snapshot, gpointer user_data);
  /* @failure: an `spdl-item-failed` structure */
  void (*failure) (
      Session *session, const GstStructure *failure, gpointer user_data);
  /* Called for a warning of an element. */
  void (*warning) (Session *session, const gchar *element, const gchar *text,
      gpointer user_data);
  /* @decision: an `spdl-tuning` structure */
  void (*tuning) (
      Session *session, const GstStructure *decision, gpointer user_data);
} SessionFuncs;

/* @description: gst-launch arguments
 * @settings: (nullable): array of ELEMENT.PROPERTY=VALUE */
Session *session_new (gchar **description, gchar **settings, GError **error);
/* Same with an spdlcache before the spdlsink, which replays batches after
 * @n_batches. */
Session *session_new_cached (
    gchar **description, gchar **settings, guint n_batches, GError **error);
/* @pipeline: (transfer full): complete pipeline */
Session *session_new_for (GstElement *pipeline);
void session_free (Session *self);

/* Checks that the pipeline supports the limits. */
gboolean session_check_limits (
    Session *self, const SessionLimits *limits, GError **error);

/* Runs until the end of the stream, a limit, an error or Ctrl-C. May be called
 * once.
 * @funcs: (nullable)
 * Returns FALSE after an error. */
gboolean session_run (Session *self, const SessionLimits *limits,
    const SessionFuncs *funcs, gpointer user_data, GError **error);

SessionEnd session_get_end (Session *self);
GPtrArray *session_get_parts (Session *self);
/* Returns: (transfer none) (element-type Snapshot): all intervals, or a subset
 * of them in long runs */
GPtrArray *session_get_snapshots (Session *self);
/* Returns: (transfer full): @interval with the elements' statistics since the
 * start */
Snapshot *session_dup_totals (Session *self, const Snapshot *interval);
/* Returns the statistics of the whole run; NULL before its end. */
const Snapshot *session_get_result (Session *self);
/* Returns: (element-type GstStructure): the first 100 failures */
GPtrArray *session_get_failures (Session *self);
/* Formats a failure: its URI, if it has one, and the reason, for people.
 * Returns: (transfer full) */
gchar *failure_format (const GstStructure *failure);
/* Returns: (transfer full): the reason of a failure */
gchar *failure_dup_reason (const GstStructure *failure);
/* Returns: (element-type GstStructure): the first 100 decisions, with `time` in
 * seconds */
GPtrArray *session_get_tuning (Session *self);
/* Returns the items per second after the warm-up. */
double session_get_steady_rate (Session *self);
/* Returns the seconds per batch after the warm-up; 0 if there were too few
 * batches.
 * @wait: (out): part of it spent waiting */
double session_get_batch_time (Session *self, double *wait);
/* Returns: (nullable): the resume state after the last batch */
const gchar *session_get_state (Session *self);
/* Returns the pipeline as text for gst-launch. */
const gchar *session_get_description (Session *self);
GstElement *session_get_pipeline (Session *self);

G_END_DECLS
