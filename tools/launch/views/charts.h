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

/* Each appends one SVG drawing. */

/* All elements, from source to sink, with their load; the limit stands out. */
void
charts_append_pipeline (GString *out, GPtrArray *parts, const Snapshot *result);
/* Items a second over time. */
void charts_append_throughput (GString *out, GPtrArray *snapshots);
/* How full each queue was over time. */
void charts_append_occupancy (
    GString *out, GPtrArray *snapshots, const Snapshot *result);
/* Average, 90th and 99th percentile of each stage's tasks. */
void charts_append_times (GString *out, const Snapshot *result);
/* The workers' time: computing, waiting, idle. */
void charts_append_work (GString *out, const Snapshot *result);

G_END_DECLS
