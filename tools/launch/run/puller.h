/* gst-spdl-launch: thread that pulls batches like a training loop
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Thread that starts a pipeline and pulls from its sink. Blocking calls in it
 * do not keep the main loop from handling signals. */

typedef struct _Puller Puller;

/* Totals so far. */
typedef struct {
  guint64 items, batches;
  gint64 last; /* monotonic time of the last batch in us; 0: none */
  /* Time of the first batch after the warm-up, and totals up to it: */
  gint64 steady_since;
  guint64 steady_items, steady_batches;
  gint64 waited; /* us spent waiting for batches after the warm-up */
} PullerCounts;

/* @sink: (nullable): sink to pull from; NULL: only start the pipeline
 * @ended: called in the main loop when there is nothing more to pull */
Puller *puller_start (GstElement *pipeline, GstElement *sink,
    const SessionLimits *limits, GSourceFunc ended, gpointer user_data);

void puller_get_counts (Puller *self, PullerCounts *counts);

/* Returns whether the pipeline refused to play. */
gboolean puller_has_failed (Puller *self);

/* Returns whether a limit was reached. */
gboolean puller_is_done (Puller *self);

/* Stops the thread. If it waits for a batch, it ends when the pipeline is
 * stopped. */
void puller_stop (Puller *self);
/* Joins the thread. */
void puller_free (Puller *self);

G_END_DECLS
