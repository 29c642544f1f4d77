/* gst-spdl: simulation of a pipeline with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/autotune/tuner.h"

G_BEGIN_DECLS

#define SIMULATION_STAGES 4

/* Duration of a stage's task, in seconds. */
typedef struct {
  double wait;
  double cpu;
  guint served; /* tasks that the server processes at a time; 0: unlimited */
  double harm;  /* loss of throughput per additional task, as a fraction */
} SimulatedStage;

/* Stages between a source and a trainer, with fair sharing of the cores. */
typedef struct {
  guint n_stages;
  SimulatedStage stages[SIMULATION_STAGES];
  guint n_cores;
  guint max_workers; /* per stage */
  double trainer;    /* items per second; 0: unlimited */
  double noise;      /* of the throughput per interval */
  guint64 interval;  /* ns */
  /* State: */
  GRand *rand;
  guint64 now;
  double rate;
  double left_over[SIMULATION_STAGES]; /* fractions of an item */
} Simulation;

void simulation_draw (Simulation *self, guint32 seed);
void simulation_clear (Simulation *self);

/* Returns the steady-state items per second with these numbers of workers. */
double simulation_get_throughput (const Simulation *self, const guint *workers);

/* Returns the highest throughput over all combinations of worker numbers.
 * @fewest: (out): smallest total number of workers that reaches @share of it */
double
simulation_find_best (const Simulation *self, double share, guint *fewest);

/* Advances the simulation by an interval. */
void simulation_run (
    Simulation *self, const guint *workers, SpdlInterval *intervals);

G_END_DECLS
