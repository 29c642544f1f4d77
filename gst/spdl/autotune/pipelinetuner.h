/* gst-spdl: automatic concurrency of a pipeline's stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/ticker.h"
#include "gst/spdl/gstspdlstage.h"

G_BEGIN_DECLS

/* Ties the engine's tuner to stages. There is one for each pipeline that has
 * automatic stages which run, made for the first and gone with the last, with a
 * thread that takes their figures ten times a second. It takes no part in
 * intervals of `stats-interval`. What it decides is posted by the stage, as
 * `spdl-tuning`. */

/* @stage has started. Nothing happens if it is tuned already. From any
 * thread. */
void gst_spdl_tuner_add (GstSpdlStage *stage);

/* @stage is not touched any more once this returns. Returns: (nullable): what
 * the caller ends when it holds no lock. */
SpdlTicker *gst_spdl_tuner_remove (GstSpdlStage *stage);

/* Posts a decision as `spdl-tuning`, with fields as for gst_structure_set(). */
void gst_spdl_post_tuning (GstElement *stage, guint from, guint to,
    const gchar *reason, const gchar *first_field, ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
