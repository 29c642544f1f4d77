/* gst-spdl-launch: statistics of a run, by interval
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/parts.h"
#include "tools/launch/run/puller.h"
#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

typedef struct _Intervals Intervals;

/* @parts: of a pipeline, borrowed. */
Intervals *intervals_new (GPtrArray *parts);
void intervals_free (Intervals *self);

/* Time starts. @max_batches, @duration (ns): where the run ends; 0: no
 * limit. */
void intervals_begin (Intervals *self, guint64 max_batches, guint64 duration);

/* An interval is over. @counts: (nullable): what was pulled; where nobody
 * pulls, the last element of ours tells what came out. The snapshot is kept. */
const Snapshot *intervals_add (Intervals *self, const PullerCounts *counts);

/* (transfer full): the figures since the start. */
Snapshot *intervals_sum_up (Intervals *self, const PullerCounts *counts);

/* (transfer full): @interval's figures, but the elements' since the start. */
Snapshot *intervals_dup_totals (Intervals *self, const Snapshot *interval);

/* Of all intervals, thinned out where there are many; (element-type Snapshot).
 */
GPtrArray *intervals_get_snapshots (Intervals *self);

/* Items a second from @warm_up (ns) on, up to @end. */
double intervals_get_steady_rate (
    Intervals *self, guint64 warm_up, const Snapshot *end);

G_END_DECLS
