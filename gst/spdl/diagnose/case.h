/* gst-spdl: a pipeline's figures, as a diagnosis looks at them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_CASE_H__
#define __GST_SPDL_CASE_H__

#include "gst/spdl/diagnose/stageview.h"

G_BEGIN_DECLS

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
} GstSpdlCase;

/* Borrows strings from @stages. */
void gst_spdl_case_init (
    GstSpdlCase *self, GList *stages, guint num_cores, guint64 cpu_time);
void gst_spdl_case_clear (GstSpdlCase *self);

/* Adds what the CPUs did between two gst_spdl_get_cpu_stats(). @before:
 * nullable: then only the number of cores is known, as without @after nothing
 * is. */
void gst_spdl_case_add_cpus (
    GstSpdlCase *self, const GstStructure *before, const GstStructure *after);

gboolean gst_spdl_case_cores_are_busy (const GstSpdlCase *self);

/* Whether @view's workers, which have work, lack cores, as other programs use
 * them: more workers would get more only by taking it from these programs.
 * @view: nullable. */
gboolean gst_spdl_case_others_hold_cores (
    const GstSpdlCase *self, const GstSpdlStageView *view);

/* The stage whose tasks took the most CPU time; NULL without stages. */
const GstSpdlStageView *
gst_spdl_case_find_most_computing (const GstSpdlCase *self);

/* The first element from @from on that knows how full its queue is. */
guint gst_spdl_case_find_gauge (const GstSpdlCase *self, guint from);

/* The last stage whose queue is full. */
guint gst_spdl_case_find_last_full (const GstSpdlCase *self);

/* The trainer, as the sink knows it: its own element's view; NULL where that is
 * none of ours. */
const GstSpdlStageView *gst_spdl_case_get_sink (const GstSpdlCase *self);

/* Whether the trainer's steps are slower than they were given, and waiting is
 * not what makes the difference. */
gboolean gst_spdl_case_step_is_slow (const GstSpdlCase *self);

/* The element from whose cache batches came; nullable. */
const GstSpdlStageView *gst_spdl_case_find_cache (const GstSpdlCase *self);

/* Whether elements without figures stand from @from up to @to. */
gboolean
gst_spdl_case_any_foreign (const GstSpdlCase *self, guint from, guint to);

/* Whether what stands behind the stage @full, up to the gauge @next, is
 * slow. */
gboolean gst_spdl_case_downstream_is_slow (
    const GstSpdlCase *self, guint full, guint next);

G_END_DECLS

#endif /* __GST_SPDL_CASE_H__ */
