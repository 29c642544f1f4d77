/* gst-spdl: a pipeline that is only reckoned, on a clock of its own
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/autotune/tuner.h"

G_BEGIN_DECLS

#define SIMULATION_STAGES 4

/* What a task of a stage takes, in seconds. */
typedef struct {
  double wait;
  double cpu;
  guint served; /* tasks that its server works on at a time; 0: all */
  double harm;  /* what each beyond that costs, as a share of the throughput */
} SimulatedStage;

/* Stages in a row behind a source and before a trainer, on some cores that are
 * shared evenly. */
typedef struct {
  guint n_stages;
  SimulatedStage stages[SIMULATION_STAGES];
  guint n_cores;
  guint max_workers; /* of a stage */
  double trainer;    /* items a second that it takes; 0: all */
  double noise;      /* of an interval's throughput */
  guint64 interval;  /* ns */
  /* While it runs: */
  GRand *rand;
  guint64 now;
  double rate;
  double left_over[SIMULATION_STAGES]; /* parts of an item */
} Simulation;

void simulation_draw (Simulation *self, guint32 seed);
void simulation_clear (Simulation *self);

/* Items a second with so many workers, in the long run. */
double simulation_get_throughput (const Simulation *self, const guint *workers);

/* The best throughput that any numbers of workers reach, all being tried.
 * @fewest: (out): the least sum of workers that reaches @share of it */
double
simulation_find_best (const Simulation *self, double share, guint *fewest);

/* Goes on by an interval. */
void simulation_run (
    Simulation *self, const guint *workers, SpdlInterval *intervals);

G_END_DECLS
