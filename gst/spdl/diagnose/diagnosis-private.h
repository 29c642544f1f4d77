/* gst-spdl: private parts of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdldiagnose.h"
#include "gst/spdl/diagnose/analysis.h"

G_BEGIN_DECLS

struct _GstSpdlDiagnosis {
  GstSpdlLimit limit;
  gchar *element;  /* nullable, as all below except reason and sentence */
  gchar *reason;   /* sentence without the advice */
  gchar *sentence; /* reason and advice */
  gchar *property;
  gchar *value;
  gdouble gain;           /* 0: unknown */
  GstStructure *roofline; /* nullable */
};

GstSpdlDiagnosis *
gst_spdl_diagnosis_new (GstSpdlLimit limit, const gchar *element);

/* Sets the reason, and the sentence that consists of the reason and the advice
 * in @todo_format.
 *
 * @reason: (transfer full) */
void gst_spdl_diagnosis_say (GstSpdlDiagnosis *self, gchar *reason,
    const gchar *todo_format, ...) G_GNUC_PRINTF (3, 4);

/* Suggests a value for a property. */
void gst_spdl_diagnosis_suggest (
    GstSpdlDiagnosis *self, const gchar *property, gchar *value);

/* "0.2 ms" */
gchar *gst_spdl_diagnosis_format_time (double ns);

const gchar *gst_spdl_limit_get_nick (GstSpdlLimit limit);

/* Each function describes one bottleneck and suggests a change. All return a
 * new diagnosis. */

GstSpdlDiagnosis *gst_spdl_finding_idle (const GstSpdlAnalysis *c);

/* Tasks of @view do not end. */
GstSpdlDiagnosis *gst_spdl_finding_stalled (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view);

/* The worker process of @view does not answer. */
GstSpdlDiagnosis *gst_spdl_finding_silent (const GstSpdlStageView *view);

/* @what: kind of the counted objects: "items"
 * @n: their number */
GstSpdlDiagnosis *gst_spdl_finding_too_few (
    const GstSpdlAnalysis *c, const gchar *what, guint64 n);

/* Nearly all tasks of @view failed. */
GstSpdlDiagnosis *gst_spdl_finding_failures (const GstSpdlStageView *view);

/* A server limits the requests of @view. */
GstSpdlDiagnosis *gst_spdl_finding_rate_limit (const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_balanced (const GstSpdlAnalysis *c);

/* The workers of @view compute or wait all the time. */
GstSpdlDiagnosis *
gst_spdl_finding_stage (const GstSpdlAnalysis *c, const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_cores (const GstSpdlAnalysis *c);

/* The workers of @view lack cores, because other programs use them. */
GstSpdlDiagnosis *gst_spdl_finding_others (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_straggler (const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_held (const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_consumer (const GstSpdlStageView *sink);

/* The trainer's step takes longer than expected. */
GstSpdlDiagnosis *gst_spdl_finding_contention (
    const GstSpdlAnalysis *c, const GstSpdlStageView *sink);

/* Batches came from a cache. */
GstSpdlDiagnosis *gst_spdl_finding_cached (const GstSpdlStageView *cache);

/* An element between the gauges @before and @after (n_views: none) is slow. */
GstSpdlDiagnosis *
gst_spdl_finding_element (const GstSpdlAnalysis *c, guint before, guint after);

/* The source is slow, according to the gauge. */
GstSpdlDiagnosis *
gst_spdl_finding_source (const GstSpdlAnalysis *c, guint gauge);

G_END_DECLS
