/* gst-spdl: statistics over several intervals, with confidence
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Counters of a stage in an interval. Times are in ns. */
typedef struct {
  guint64 items; /* that were started */
  guint64 tasks; /* that ended */
  guint64 timed; /* tasks with a known duration */
  guint64 task_time;
  guint64 cpu_time;
  guint64 occupied; /* time in which its queue was occupied */
  guint64 pushing;  /* time in which results were being pushed */
} SpdlInterval;

/* Maximum number of stages that are tuned. */
#define SPDL_MAX_TUNED 32

/* Statistics of several intervals. The confidence of a rate is calculated from
 * the rates of groups of intervals. A group is as long as two of the longest
 * tasks, because parallel tasks end in waves, which a single interval may
 * miss. */
typedef struct {
  guint n_stages;
  guint64 elapsed;
  SpdlInterval sums[SPDL_MAX_TUNED];
  guint64 block_elapsed;
  guint64 block_items;
  guint n_blocks;
  double mean, squares; /* of the rates of the groups, by Welford's algorithm */
} SpdlWindow;

void spdl_window_init (SpdlWindow *self, guint n_stages);

/* Adds an interval. @intervals: one per stage; @elapsed: in ns */
void spdl_window_add (
    SpdlWindow *self, const SpdlInterval *intervals, guint64 elapsed);

/* Returns the items per second of all stages together. If one stage passes on
 * what another produced, this is proportional to the throughput of the
 * pipeline. */
double spdl_window_get_rate (const SpdlWindow *self);

/* Returns the standard error of the rate, as a share of the rate. */
double spdl_window_get_noise (const SpdlWindow *self);

/* Returns the items per second of one stage. */
double spdl_window_get_item_rate (const SpdlWindow *self, guint stage);

/* Returns the duration of a task, in ns. */
double spdl_window_get_task_time (const SpdlWindow *self, guint stage);
double spdl_window_get_longest_task (const SpdlWindow *self);

/* Returns the length of a group of intervals, in ns. */
double spdl_window_get_block (const SpdlWindow *self);

/* Returns the average number of busy workers. */
double spdl_window_get_busy (const SpdlWindow *self, guint stage);

/* Returns the share of the tasks' time that was CPU time. */
double spdl_window_get_computing (const SpdlWindow *self, guint stage);

/* Return the shares of the time in which tasks were queued, and in which
 * results were being pushed. */
double spdl_window_get_occupancy (const SpdlWindow *self, guint stage);
double spdl_window_get_pushing (const SpdlWindow *self, guint stage);

/* Returns the number of tasks of the stage with most tasks. */
guint64 spdl_window_get_tasks (const SpdlWindow *self);

G_END_DECLS
