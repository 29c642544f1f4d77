/* gst-spdl: statistics of a pipeline, prepared for a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Statistics of an element. Fields that the statistics lack are 0; where 0 is
 * ambiguous, there is a flag. */
typedef struct {
  const gchar *name;
  gboolean has_figures; /* it has statistics of this project */
  guint64 silent;       /* time for which its process makes no progress, ns */
  gboolean is_stage;    /* it has workers */
  gboolean has_gauge;   /* `fullness` is known */
  gboolean in_order;
  gboolean automatic; /* concurrency is automatic */
  gboolean throttled; /* by a CPU budget */
  guint64 elapsed;
  guint concurrency, max_concurrency;
  guint queue_size;
  guint64 tasks, items, failures;
  guint64 ave_time, p90_time, p99_time;
  guint64 cpu_time;
  guint64 http_time;       /* part of it, of the threads that run requests */
  guint http_threads;      /* maximum number of these threads */
  guint64 rate_paused;     /* time for which a server refused requests */
  const gchar *rate_limit; /* nullable: the limit in words */
  guint64 batches, cached;
  guint64 worker_time; /* that workers of the stage before spent on its work */
  guint64 worker_wait; /* time in which it waited for them */
  gboolean has_put_time;
  guint64 put_time, get_time; /* average */
  guint64 ave_step;           /* of the trainer; 0: unknown */
  guint64 p50_step, p99_step;
  guint64 given_step;            /* expected duration of a step; 0: unknown */
  const gchar *threads_property; /* nullable: of a foreign element */
  guint threads;

  /* Derived from these: */
  double fullness; /* share of the time in which input is queued */
  double busy;     /* share of the workers' time spent in tasks */
  gboolean has_push;
  double push;      /* share of the time in which results are being pushed */
  double computing; /* share of the tasks' time that is CPU time */
} GstSpdlStageView;

/* The workers of a stage count as busy from this value of `busy` on. */
#define GST_SPDL_BUSY 0.85
/* Tasks count as computing from this value of `computing` on. */
#define GST_SPDL_COMPUTES 0.5
/* A queue counts as full from this value of `fullness` on, and results as
 * blocked from this value of `push` on. */
#define GST_SPDL_FULL 0.6

/* Fewer training steps are not judged. */
#define GST_SPDL_MIN_STEPS 10

/* Views of all elements, from the source to the sink, and totals. Functions
 * refer to elements by their index; n_views means none. */
typedef struct {
  GstSpdlStageView *views;
  guint n_views;
  double num_cores; /* that the process may use; 0: unknown */
  guint64 elapsed;
  double loading_time; /* CPU time of all threads that load, in ns */
  double busy_cores;   /* used by this process */
  guint num_cpus;      /* that it may run on; 0: the next two are unknown */
  double other_cores;  /* used by other programs */
  double idle_cores;
  double pressure; /* share of the time; negative: unknown */
  double delayed;  /* threads that wait for a core; negative: unknown */
  const GstSpdlStageView *top;    /* busiest stage; nullable */
  const GstSpdlStageView *second; /* second busiest stage; nullable */
} GstSpdlAnalysis;

/* Initializes an analysis, which borrows strings from @stages. */
void gst_spdl_analysis_init (
    GstSpdlAnalysis *self, GList *stages, guint num_cores, guint64 cpu_time);
void gst_spdl_analysis_clear (GstSpdlAnalysis *self);

/* Adds the CPU load between two results of gst_spdl_dup_cpu_stats().
 *
 * @before: (nullable): NULL: only the number of cores is known
 * @after: (nullable): NULL: nothing is added */
void gst_spdl_analysis_add_cpus (GstSpdlAnalysis *self,
    const GstStructure *before, const GstStructure *after);

gboolean gst_spdl_analysis_cores_are_busy (const GstSpdlAnalysis *self);

/* Returns TRUE if the workers of @view (nullable) lack cores because other
 * programs use them. More workers would only take cores from these programs. */
gboolean gst_spdl_analysis_others_hold_cores (
    const GstSpdlAnalysis *self, const GstSpdlStageView *view);

/* Returns the stage whose tasks used the most CPU time; NULL without stages. */
const GstSpdlStageView *
gst_spdl_analysis_find_most_computing (const GstSpdlAnalysis *self);

/* Returns the first element at @from or after it that reports how full its
 * queue is. */
guint gst_spdl_analysis_find_gauge (const GstSpdlAnalysis *self, guint from);

/* Returns the last stage whose queue is full. */
guint gst_spdl_analysis_find_last_full (const GstSpdlAnalysis *self);

/* Returns the view of the sink, which has the statistics of the trainer; NULL
 * if the sink is not of this project. */
const GstSpdlStageView *
gst_spdl_analysis_get_sink (const GstSpdlAnalysis *self);

/* Returns TRUE if the trainer's steps are slower than expected, and waiting for
 * batches is not the reason. */
gboolean gst_spdl_analysis_step_is_slow (const GstSpdlAnalysis *self);

/* Returns the element that replayed cached batches; nullable. */
const GstSpdlStageView *
gst_spdl_analysis_find_cache (const GstSpdlAnalysis *self);

/* Returns TRUE if there are elements without statistics from @from up to
 * @to. */
gboolean gst_spdl_analysis_any_foreign (
    const GstSpdlAnalysis *self, guint from, guint to);

/* Returns TRUE if the elements after the stage @full, up to the gauge @next,
 * are slow. */
gboolean gst_spdl_analysis_downstream_is_slow (
    const GstSpdlAnalysis *self, guint full, guint next);

/* Describes an element without statistics for gst_spdl_diagnose().
 *
 * @name: its name in the diagnosis
 * Returns: (transfer full) (nullable): NULL if it only forwards data, such as a
 * queue */
SPDL_PRIVATE_API
GstStructure *
gst_spdl_make_foreign_stats (GstElement *element, const gchar *name);

/* Estimates the throughput of the pipeline with the best concurrency. Every
 * resource sets a limit, and the lowest one counts: the cores, the tasks of a
 * stage that may wait at the same time, and each thread that runs elements one
 * after the other.
 *
 * Returns: (transfer full) (nullable): a structure `spdl-roofline`, as
 * gst_spdl_diagnosis_get_roofline() describes it; NULL if no limit is known */
GstStructure *gst_spdl_roofline_new (const GstSpdlAnalysis *c);

G_END_DECLS
