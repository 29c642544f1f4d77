/* gst-spdl-launch: statistics of a run per interval
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "tools/launch/run/parts.h"
#include "tools/launch/run/puller.h"
#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

typedef struct _Intervals Intervals;

/* @parts: (transfer none): elements of the pipeline
 * @threads: (transfer none): its streaming threads */
Intervals *intervals_new (GPtrArray *parts, GstSpdlThreadTimes *threads);
void intervals_free (Intervals *self);

/* Starts the clock.
 * @max_batches, @duration: limits of the run, the latter in ns; 0: no limit */
void intervals_begin (Intervals *self, guint64 max_batches, guint64 duration);

/* Ends an interval and returns its snapshot, which @self owns.
 * @counts: (nullable): pulled batches; NULL: use the output of the last
 * gst-spdl element */
const Snapshot *intervals_add (Intervals *self, const PullerCounts *counts);

/* Returns: (transfer full): statistics since the start */
Snapshot *intervals_sum_up (Intervals *self, const PullerCounts *counts);

/* Returns: (transfer full): @interval with the elements' statistics since the
 * start */
Snapshot *intervals_dup_totals (Intervals *self, const Snapshot *interval);

/* Returns: (transfer none) (element-type Snapshot): all intervals, or a subset
 * of them in long runs */
GPtrArray *intervals_get_snapshots (Intervals *self);

/* Returns the items per second from @warm_up (ns) to @end. */
double intervals_get_steady_rate (
    Intervals *self, guint64 warm_up, const Snapshot *end);

G_END_DECLS
