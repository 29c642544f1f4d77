/* gst-spdl: concurrency of stages, fixed or chosen for those of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlstage.h"

G_BEGIN_DECLS

/* Connects the tuner to the stages of a pipeline. A pipeline has one tuner
 * while automatic stages are running. The tuner's thread reads the counters of
 * the stages ten times per second, independently of `stats-interval`. Stages
 * post decisions as `spdl-tuning`. The functions of stages that set their
 * concurrency are in stage-private.h. */

/* Posts a decision as `spdl-tuning`, with fields as for gst_structure_set(). */
void gst_spdl_post_tuning (GstElement *stage, guint from, guint to,
    const gchar *reason, const gchar *first_field, ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
