/* gst-spdl-launch: thread that takes batches like a trainer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Starts a pipeline and pulls from its sink in a thread of its own, so that
 * nothing of either can keep the main loop from a signal. */

typedef struct _Puller Puller;

/* What came until now. */
typedef struct {
  guint64 items, batches;
  gint64 last; /* monotonic time of the last batch, in us; 0: none came */
  /* Of the first batch after the warm-up, and up to it: */
  gint64 steady_since;
  guint64 steady_items, steady_batches;
  gint64 waited; /* us for batches, in pulls after the warm-up */
} PullerCounts;

/* @sink: (nullable): from which to pull; without one the pipeline is only
 * started. @ended: is called in the main loop when there is nothing more to
 * pull. */
Puller *puller_start (GstElement *pipeline, GstElement *sink,
    const SessionLimits *limits, GSourceFunc ended, gpointer user_data);

void puller_get_counts (Puller *self, PullerCounts *counts);

/* Whether it pulled all that it was to. */
gboolean puller_is_done (Puller *self);

/* Ends soon: where the thread waits for a batch, when the pipeline stops. */
void puller_stop (Puller *self);
/* Waits for the thread. */
void puller_free (Puller *self);

G_END_DECLS
