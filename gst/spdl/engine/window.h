/* gst-spdl: statistics of some intervals, with confidence
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* What a stage counted in an interval. Times are nanoseconds. */
typedef struct {
  guint64 items; /* that were taken up */
  guint64 tasks; /* that ended */
  guint64 timed; /* those of them whose time is known */
  guint64 task_time;
  guint64 cpu_time;
  guint64 occupied; /* how long something waited in its queue */
  guint64 pushing;  /* how long results were being handed on */
} SpdlInterval;

/* More stages than these are not looked at. */
#define SPDL_MAX_TUNED 32

/* Intervals put together. The intervals' rates, of as many intervals at a time
 * as hold two of the longest tasks, tell how sure the rate is: tasks that run
 * side by side end in waves, which a single interval has or has not. */
typedef struct {
  guint n_stages;
  guint64 elapsed;
  SpdlInterval sums[SPDL_MAX_TUNED];
  guint64 block_elapsed;
  guint64 block_items;
  guint n_blocks;
  double mean, squares; /* of the blocks' rates: Welford's */
} SpdlWindow;

void spdl_window_init (SpdlWindow *self, guint n_stages);

/* @intervals: one for each stage */
void spdl_window_add (
    SpdlWindow *self, const SpdlInterval *intervals, guint64 elapsed);

/* Items a second, of all stages together: where one passes what another did,
 * that is in proportion to the pipeline's throughput. */
double spdl_window_get_rate (const SpdlWindow *self);

/* The standard error of the rate, as a share of it. */
double spdl_window_get_noise (const SpdlWindow *self);

/* Items a second of one stage. */
double spdl_window_get_item_rate (const SpdlWindow *self, guint stage);

/* How long a task takes, in ns. */
double spdl_window_get_task_time (const SpdlWindow *self, guint stage);
double spdl_window_get_longest_task (const SpdlWindow *self);

/* How long intervals are put together for a rate, in ns. */
double spdl_window_get_block (const SpdlWindow *self);

/* How many workers are in tasks, on average. */
double spdl_window_get_busy (const SpdlWindow *self, guint stage);

/* The share of the tasks' time on a CPU. */
double spdl_window_get_computing (const SpdlWindow *self, guint stage);

/* The shares of the time in which something waits, and results are handed
 * on. */
double spdl_window_get_occupancy (const SpdlWindow *self, guint stage);
double spdl_window_get_pushing (const SpdlWindow *self, guint stage);

/* Tasks of the stage that did most. */
guint64 spdl_window_get_tasks (const SpdlWindow *self);

G_END_DECLS
