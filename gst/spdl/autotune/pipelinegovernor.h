/* gst-spdl: CPU budget of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Ties the engine's governor to a pipeline: `cpu-budget`, for whoever runs one
 * and wants to have it. It holds back the stage whose tasks use most CPU time,
 * which slows the whole pipeline down, and the others that compute only where
 * that does not suffice. Their `concurrency` stays what it is. It has a thread,
 * which looks fifty times a second. */

typedef struct _GstSpdlGovernor GstSpdlGovernor;

/* For the stages that @pipeline has now. @budget: the share of all cores. */
SPDL_PRIVATE_API
GstSpdlGovernor *gst_spdl_governor_new (GstBin *pipeline, gdouble budget);
SPDL_PRIVATE_API
void gst_spdl_governor_free (GstSpdlGovernor *self);

/* What counts: by default the CPU time of the stages' workers and of the
 * pipeline's streaming threads, for which the messages below are needed. Where
 * a process does nothing else, it is all of the process. Before it starts.
 * @get_cpu_time: in ns, from any thread */
SPDL_PRIVATE_API
void gst_spdl_governor_set_clock (
    GstSpdlGovernor *self, guint64 (*get_cpu_time) (void));

/* A message of the pipeline, in the thread that posts it: it tells of streaming
 * threads. */
SPDL_PRIVATE_API
void
gst_spdl_governor_take_message (GstSpdlGovernor *self, GstMessage *message);

/* Takes effect at once. From any thread. */
SPDL_PRIVATE_API
void gst_spdl_governor_set_budget (GstSpdlGovernor *self, gdouble budget);

/* Before the pipeline is in PAUSED, and before it is back in NULL: what is held
 * back is let go. */
SPDL_PRIVATE_API
void gst_spdl_governor_start (GstSpdlGovernor *self);
SPDL_PRIVATE_API
void gst_spdl_governor_stop (GstSpdlGovernor *self);

G_END_DECLS
