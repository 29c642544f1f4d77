/* gst-spdl: figures of a pipeline, prepared for a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a diagnosis asks of an element. Fields that the statistics lack are 0,
 * and where 0 means something else, there is a flag. */
typedef struct {
  const gchar *name;
  gboolean has_figures; /* it is ours */
  gboolean is_stage;    /* it has workers */
  gboolean has_gauge;   /* `fullness` is known */
  gboolean in_order;
  gboolean automatic; /* its concurrency */
  gboolean throttled; /* by a CPU budget */
  guint64 elapsed;
  guint concurrency;
  guint queue_size;
  guint64 tasks, items;
  guint64 ave_time, p90_time, p99_time;
  guint64 cpu_time;
  guint64 batches, cached;
  guint64 get_time;              /* average */
  guint64 p50_step, p99_step;    /* of the trainer; 0: not known */
  guint64 given_step;            /* what a step should take; 0: not known */
  const gchar *threads_property; /* nullable: of a foreign element */
  guint threads;

  /* From these: */
  double fullness; /* share of the time in which something waits before it */
  double busy;     /* share of the workers' time that goes into tasks */
  gboolean has_push;
  double push;      /* share of the time that goes into handing results on */
  double computing; /* share of the tasks' time on a CPU */
} GstSpdlStageView;

/* From this share of their time on a stage's workers are busy. */
#define GST_SPDL_BUSY 0.85
/* From this share of their time on a CPU tasks compute. */
#define GST_SPDL_COMPUTES 0.5
/* Where something waits for this share of the time, a queue is full. */
#define GST_SPDL_FULL 0.6

/* All elements' views, from the source to the sink, and what they add up to.
 * Elements are told by their index; n_views stands for none. */
typedef struct {
  GstSpdlStageView *views;
  guint n_views;
  double num_cores; /* that the process may use; 0: not known */
  guint64 elapsed;
  double busy_cores;  /* with this process */
  guint num_cpus;     /* that it may run on; 0: the next two are not known */
  double other_cores; /* busy with other programs */
  double idle_cores;
  double pressure; /* share of the time; negative: not known */
  double delayed;  /* threads that wait for a core; negative: not known */
  const GstSpdlStageView *top;    /* the busiest stage; nullable */
  const GstSpdlStageView *second; /* the next one; nullable */
} GstSpdlAnalysis;

/* Borrows strings from @stages. */
void gst_spdl_analysis_init (
    GstSpdlAnalysis *self, GList *stages, guint num_cores, guint64 cpu_time);
void gst_spdl_analysis_clear (GstSpdlAnalysis *self);

/* Adds what the CPUs did between two gst_spdl_get_cpu_stats(). @before:
 * nullable: then only the number of cores is known, as without @after nothing
 * is. */
void gst_spdl_analysis_add_cpus (GstSpdlAnalysis *self,
    const GstStructure *before, const GstStructure *after);

gboolean gst_spdl_analysis_cores_are_busy (const GstSpdlAnalysis *self);

/* Whether @view's workers, which have work, lack cores, as other programs use
 * them: more workers would get more only by taking it from these programs.
 * @view: nullable. */
gboolean gst_spdl_analysis_others_hold_cores (
    const GstSpdlAnalysis *self, const GstSpdlStageView *view);

/* The stage whose tasks took the most CPU time; NULL without stages. */
const GstSpdlStageView *
gst_spdl_analysis_find_most_computing (const GstSpdlAnalysis *self);

/* The first element from @from on that knows how full its queue is. */
guint gst_spdl_analysis_find_gauge (const GstSpdlAnalysis *self, guint from);

/* The last stage whose queue is full. */
guint gst_spdl_analysis_find_last_full (const GstSpdlAnalysis *self);

/* The trainer, as the sink knows it: its own element's view; NULL where that is
 * none of ours. */
const GstSpdlStageView *
gst_spdl_analysis_get_sink (const GstSpdlAnalysis *self);

/* Whether the trainer's steps are slower than they were given, and waiting is
 * not what makes the difference. */
gboolean gst_spdl_analysis_step_is_slow (const GstSpdlAnalysis *self);

/* The element from whose cache batches came; nullable. */
const GstSpdlStageView *
gst_spdl_analysis_find_cache (const GstSpdlAnalysis *self);

/* Whether elements without figures stand from @from up to @to. */
gboolean gst_spdl_analysis_any_foreign (
    const GstSpdlAnalysis *self, guint from, guint to);

/* Whether what stands behind the stage @full, up to the gauge @next, is
 * slow. */
gboolean gst_spdl_analysis_downstream_is_slow (
    const GstSpdlAnalysis *self, guint full, guint next);

G_END_DECLS
