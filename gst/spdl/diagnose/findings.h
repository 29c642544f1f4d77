/* gst-spdl: rules and texts of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/diagnose/analysis.h"
#include "gst/spdl/gstspdldiagnose.h"

G_BEGIN_DECLS

/* Each puts one limit into words, and says what to change. All return a new
 * diagnosis. */

GstSpdlDiagnosis *gst_spdl_finding_idle (const GstSpdlAnalysis *c);

/* That @view's tasks do not end. */
GstSpdlDiagnosis *gst_spdl_finding_stalled (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view);

/* @what: of which there are @n: "items," */
GstSpdlDiagnosis *gst_spdl_finding_too_few (
    const GstSpdlAnalysis *c, const gchar *what, guint64 n);

GstSpdlDiagnosis *gst_spdl_finding_balanced (const GstSpdlAnalysis *c);

/* That @view's workers compute, or wait, all the time. */
GstSpdlDiagnosis *
gst_spdl_finding_stage (const GstSpdlAnalysis *c, const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_cores (const GstSpdlAnalysis *c);

/* That @view's workers lack cores, as other programs use them. */
GstSpdlDiagnosis *gst_spdl_finding_others (
    const GstSpdlAnalysis *c, const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_straggler (const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_held (const GstSpdlStageView *view);

GstSpdlDiagnosis *gst_spdl_finding_consumer (const GstSpdlStageView *sink);

/* That the trainer's step takes longer than it was given. */
GstSpdlDiagnosis *gst_spdl_finding_contention (
    const GstSpdlAnalysis *c, const GstSpdlStageView *sink);

/* That batches came from a cache. */
GstSpdlDiagnosis *gst_spdl_finding_cached (const GstSpdlStageView *cache);

/* That something between the gauges @before and @after is slow; n_views where
 * there is none. */
GstSpdlDiagnosis *
gst_spdl_finding_element (const GstSpdlAnalysis *c, guint before, guint after);

/* That the source is slow, which the gauge tells. */
GstSpdlDiagnosis *
gst_spdl_finding_source (const GstSpdlAnalysis *c, guint gauge);

G_END_DECLS
