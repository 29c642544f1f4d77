/* gst-spdl-launch: one run of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "gst/spdl/stage/failure.h"
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
  gint max_failures;   /* over all stages; -1: no limit */
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
  /* @failure: with the display name of the element, as below */
  void (*failure) (
      Session *session, const GstSpdlFailure *failure, gpointer user_data);
  /* Called for a warning of an element. */
  void (*warning) (Session *session, const gchar *element, const gchar *text,
      gpointer user_data);
  /* @decision: an `spdl-tuning` structure */
  void (*tuning) (
      Session *session, const GstStructure *decision, gpointer user_data);
} SessionFuncs;

/* Pulled totals so far. */
typedef struct {
  guint64 items, batches;
  gint64 last; /* monotonic time of the last batch in us; 0: none */
  /* Time of the first batch after the warm-up, and totals up to it: */
  gint64 steady_since;
  guint64 steady_items, steady_batches;
  gint64 waited; /* us spent waiting for batches after the warm-up */
} Counts;

/* Counters at the begin of a run or of an interval. */
typedef struct {
  gint64 time;        /* monotonic, us */
  GstStructure *cpus; /* nullable: from gst_spdl_loader_dup_cpu_stats() */
  guint64 items, batches;
} Mark;

struct _Session {
  gchar *description; /* nullable: the pipeline as text for gst-launch */
  GstElement *pipeline;
  GstElement *sink; /* nullable: the spdlsink from which batches are pulled */
  GstElement *loader_sink; /* the same, or one that only ends the loader */
  GPtrArray *parts;

  /* Results of the run. */
  SessionEnd end;
  GPtrArray *snapshots; /* of Snapshot: all intervals, or a subset of them in
                           long runs */
  Snapshot *result;     /* nullable: of the whole run, after its end */
  GPtrArray *failures;  /* of GstSpdlFailure: the first 100 */
  GPtrArray *tuning;    /* of GstStructure: the first 100 decisions, with `time`
                           in seconds */
  gchar *state;         /* nullable: the resume state after the last batch */

  /* Only used during the run. */
  SessionLimits limits;
  const SessionFuncs *funcs;
  gpointer user_data;
  GstSpdlLoader *loader;
  GMainLoop *loop;
  GError *error;
  Mark first, last;

  /* Shared with the thread that pulls. */
  GThread *thread;
  gint64 steady_from;
  GMutex lock;
  GCond cond;
  gboolean stopped; /* the thread is to end */
  gboolean done;    /* it has ended */
  GError *problem;  /* nullable: why */
  Counts counts;
};

/* @description: gst-launch arguments
 * @settings: (nullable): array of ELEMENT.PROPERTY=VALUE
 * @n_cached: if positive, an spdlcache before the spdlsink replays batches
 * after this number of them */
Session *session_new (
    gchar **description, gchar **settings, guint n_cached, GError **error);
/* @pipeline: (transfer full): complete pipeline */
Session *session_new_for (GstElement *pipeline, GError **error);
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

/* Ends the run as a limit does. Callable from any thread, during the run. */
void session_end (Session *self);

/* Returns: (transfer full): statistics of the time since the last interval, or
 * since the start */
Snapshot *session_take_snapshot (Session *self, gboolean interval);
/* Returns: (transfer full): @interval with the elements' statistics since the
 * start */
Snapshot *session_dup_totals (Session *self, const Snapshot *interval);

/* Formats a failure: its URI, if it has one, and the reason, for people.
 * Returns: (transfer full) */
gchar *failure_format (const GstSpdlFailure *failure);
/* Returns the items per second after the warm-up. */
double session_get_steady_rate (Session *self);
/* Returns the seconds per batch after the warm-up; 0 if there were too few
 * batches.
 * @wait: (out): part of it spent waiting */
double session_get_batch_time (Session *self, double *wait);

G_END_DECLS
