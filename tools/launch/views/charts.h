/* gst-spdl-launch: charts of a report
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/parts.h"
#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

/* Each function appends one SVG drawing. */

/* All elements with their load, from source to sink. The bottleneck is
 * highlighted. */
void
charts_append_pipeline (GString *out, GPtrArray *parts, const Snapshot *result);
/* Items per second over time. */
void charts_append_throughput (GString *out, GPtrArray *snapshots);
/* Queue occupancy over time. */
void charts_append_occupancy (
    GString *out, GPtrArray *snapshots, const Snapshot *result);
/* Average, 90th and 99th percentile of task times per stage. */
void charts_append_times (GString *out, const Snapshot *result);
/* Worker time: computing, waiting, idle. */
void charts_append_work (GString *out, const Snapshot *result);

G_END_DECLS
