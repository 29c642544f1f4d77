/* gst-spdl: simulation of a pipeline with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/gst/autotune/simulation.h"

#include <math.h>
#include <string.h>

static double
draw_log (GRand *rand, double least, double most)
{
  return least * pow (most / least, g_rand_double (rand));
}

/* The sum of twelve uniform numbers approximates a normal distribution. */
static double
draw_normal (GRand *rand)
{
  double sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rand);
  return sum;
}

static void
draw_stage (SimulatedStage *stage, GRand *rand)
{
  const gboolean waits = g_rand_boolean (rand);

  stage->wait = waits ? draw_log (rand, 1e-3, 0.1) : 0;
  stage->cpu = draw_log (rand, 1e-5, waits ? 1e-3 : 2e-2);
  if (waits && g_rand_int_range (rand, 0, 3) == 0) {
    stage->served = g_rand_int_range (rand, 1, 33);
    stage->harm = g_rand_boolean (rand) ? 0 : 0.02;
  }
}

void
simulation_draw (Simulation *self, guint32 seed)
{
  static const guint cores[] = { 1, 2, 4, 8, 16, 32 };
  static const guint most[] = { 128, 128, 48, 20 };

  memset (self, 0, sizeof *self);
  self->rand = g_rand_new_with_seed (seed);
  self->n_stages = g_rand_int_range (self->rand, 1, SIMULATION_STAGES + 1);
  self->max_workers = most[self->n_stages - 1];
  self->n_cores = cores[g_rand_int_range (self->rand, 0, G_N_ELEMENTS (cores))];
  for (guint i = 0; i < self->n_stages; i++)
    draw_stage (&self->stages[i], self->rand);
  if (g_rand_int_range (self->rand, 0, 4) == 0)
    self->trainer = draw_log (self->rand, 20, 2000);
  self->noise = g_rand_double_range (self->rand, 0, 0.1);
  self->interval = 100000000;
}

void
simulation_clear (Simulation *self)
{
  g_rand_free (self->rand);
}

static double
harmed (const SimulatedStage *stage, guint workers)
{
  if (stage->served == 0 || workers <= stage->served)
    return 1;
  return MAX (1 - stage->harm * (workers - stage->served), 0.3);
}

/* Returns the items per second of a stage whose CPU time is stretched. */
static double
limit_of (const SimulatedStage *stage, guint workers, double stretch)
{
  const guint at_work =
      stage->served > 0 ? MIN (workers, stage->served) : workers;

  return at_work * harmed (stage, workers) /
         (stage->wait + stage->cpu * stretch);
}

static guint
find_limit (const Simulation *self, const guint *workers, double stretch)
{
  guint found = 0;

  for (guint i = 1; i < self->n_stages; i++)
    if (limit_of (&self->stages[i], workers[i], stretch) <
        limit_of (&self->stages[found], workers[found], stretch))
      found = i;
  return found;
}

static double
get_cpu_limit (const Simulation *self)
{
  double cpu = 0;

  for (guint i = 0; i < self->n_stages; i++)
    cpu += self->stages[i].cpu;
  return self->n_cores / cpu;
}

/* Tasks are stretched until the cores suffice. */
double
simulation_get_throughput (const Simulation *self, const guint *workers)
{
  const guint i = find_limit (self, workers, 1);
  const double rate =
      MIN (limit_of (&self->stages[i], workers[i], 1), get_cpu_limit (self));

  return self->trainer > 0 ? MIN (rate, self->trainer) : rate;
}

/* Advances to the next combination of worker numbers. Returns FALSE after the
 * last one. */
static gboolean
count_on (const Simulation *self, guint *workers)
{
  for (guint i = 0; i < self->n_stages; i++) {
    if (++workers[i] <= self->max_workers)
      return TRUE;
    workers[i] = 1;
  }
  return FALSE;
}

double
simulation_find_best (const Simulation *self, double share, guint *fewest)
{
  guint workers[SIMULATION_STAGES] = { 1, 1, 1, 1 };
  double best = 0;

  do
    best = MAX (best, simulation_get_throughput (self, workers));
  while (count_on (self, workers));

  *fewest = G_MAXUINT;
  do {
    guint sum = 0;

    for (guint i = 0; i < self->n_stages; i++)
      sum += workers[i];
    if (sum < *fewest &&
        simulation_get_throughput (self, workers) >= share * best)
      *fewest = sum;
  } while (count_on (self, workers));
  return best;
}

/* Returns the factor by which CPU time is stretched, so that the cores
 * suffice. */
static double
find_stretch (const Simulation *self, const guint *workers)
{
  double least = 1, most = 1e6;

  if (limit_of (&self->stages[find_limit (self, workers, 1)],
          workers[find_limit (self, workers, 1)], 1) <= get_cpu_limit (self))
    return 1;
  for (guint i = 0; i < 60; i++) {
    const double stretch = sqrt (least * most);
    const guint limit = find_limit (self, workers, stretch);

    if (limit_of (&self->stages[limit], workers[limit], stretch) >
        get_cpu_limit (self))
      least = stretch;
    else
      most = stretch;
  }
  return most;
}

static void
fill_in (Simulation *self, guint i, const guint *workers, double items,
    double stretch, SpdlInterval *interval)
{
  const SimulatedStage *stage = &self->stages[i];
  const double seconds = self->interval / 1e9;
  const guint limit = find_limit (self, workers, stretch);
  const double possible =
      limit_of (&self->stages[limit], workers[limit], stretch);
  const gboolean free = self->trainer == 0 || possible < self->trainer;
  double time = stage->wait + stage->cpu * stretch;

  /* Waiting for the server is part of the task time. */
  if (i == limit && free)
    time = MAX (time, workers[i] * seconds / MAX (items, 1e-9));
  time *= 1 + 0.03 * draw_normal (self->rand);
  self->left_over[i] += MAX (items, 0);
  *interval = (SpdlInterval){ .items = floor (self->left_over[i]) };
  self->left_over[i] -= interval->items;
  interval->tasks = interval->timed = interval->items;
  interval->task_time = interval->tasks * time * 1e9;
  interval->cpu_time = interval->tasks * stage->cpu * 1e9;
  interval->occupied = self->interval * (i <= limit || !free ? 0.95 : 0.05);
  interval->pushing = self->interval * (i < limit || !free ? 0.95 : 0.05);
}

void
simulation_run (Simulation *self, const guint *workers, SpdlInterval *intervals)
{
  const double stretch = find_stretch (self, workers);
  const double target = simulation_get_throughput (self, workers);
  const double seconds = self->interval / 1e9;
  double longest = 0;

  for (guint i = 0; i < self->n_stages; i++)
    longest =
        MAX (longest, self->stages[i].wait + self->stages[i].cpu * stretch);
  /* Tasks that have started keep their duration. */
  self->rate += (target - self->rate) * (1 - exp (-seconds / longest));
  self->now += self->interval;
  const double items =
      self->rate * seconds * (1 + self->noise * draw_normal (self->rand));
  for (guint i = 0; i < self->n_stages; i++)
    fill_in (self, i, workers, items, stretch, &intervals[i]);
}
