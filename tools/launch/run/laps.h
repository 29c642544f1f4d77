/* gst-spdl-launch: a run's figures, lap by lap
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/frame.h"
#include "tools/launch/run/parts.h"
#include "tools/launch/run/puller.h"

G_BEGIN_DECLS

typedef struct _Laps Laps;

/* @parts: of a pipeline, borrowed. */
Laps *laps_new (GPtrArray *parts);
void laps_free (Laps *self);

/* Time starts. @max_batches, @duration (ns): where the run ends; 0: no
 * limit. */
void laps_begin (Laps *self, guint64 max_batches, guint64 duration);

/* A lap is over. @counts: (nullable): what was pulled; where nobody pulls, the
 * last element of ours tells what came out. The frame is kept. */
const Frame *laps_add (Laps *self, const PullerCounts *counts);

/* (transfer full): the figures since the start. */
Frame *laps_sum_up (Laps *self, const PullerCounts *counts);

/* (transfer full): @lap's figures, but the elements' since the start. */
Frame *laps_dup_totals (Laps *self, const Frame *lap);

/* Of all laps, thinned out where there are many; (element-type Frame). */
GPtrArray *laps_get_frames (Laps *self);

/* Items a second from @warm_up (ns) on, up to @end. */
double laps_get_steady_rate (Laps *self, guint64 warm_up, const Frame *end);

G_END_DECLS
