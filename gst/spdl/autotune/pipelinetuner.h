/* gst-spdl: automatic concurrency of the stages of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdlstage.h"

G_BEGIN_DECLS

typedef struct _SpdlTicker SpdlTicker;

/* Connects the tuner to the stages of a pipeline. A pipeline has one tuner
 * while automatic stages are running. The tuner's thread reads the counters of
 * the stages ten times per second, independently of `stats-interval`. Stages
 * post decisions as `spdl-tuning`. */

/* Adds a stage that has started, unless it was added before. Callable from any
 * thread. Returns FALSE with @error set (%G_THREAD_ERROR) if the tuner can have
 * no thread. */
gboolean gst_spdl_tuner_add (GstSpdlStage *stage, GError **error);

/* Removes a stage, which is not used any more when this returns. Returns:
 * (nullable): a ticker that the caller must stop after releasing its locks. */
SpdlTicker *gst_spdl_tuner_remove (GstSpdlStage *stage);

/* Posts a decision as `spdl-tuning`, with fields as for gst_structure_set(). */
void gst_spdl_post_tuning (GstElement *stage, guint from, guint to,
    const gchar *reason, const gchar *first_field, ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
