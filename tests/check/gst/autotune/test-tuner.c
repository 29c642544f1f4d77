/* gst-spdl: tests of the tuner with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/gst/autotune/simulation.h"

#define N_PIPELINES 200
#define SECOND G_GUINT64_CONSTANT (1000000000)

typedef struct {
  Simulation sim;
  SpdlTuner *tuner;
  guint workers[SIMULATION_STAGES];
  guint n_decisions;
  guint64 last_decision;
  gboolean throttled;
} Rig;

static void
rig_init (Rig *self)
{
  self->tuner = spdl_tuner_new (self->sim.n_cores);
  for (guint i = 0; i < self->sim.n_stages; i++) {
    const guint cores = MIN (self->sim.n_cores, self->sim.max_workers);

    self->workers[i] =
        self->sim.stages[i].wait > 0 ? MIN (16, self->sim.max_workers) : cores;
    g_assert_cmpuint (spdl_tuner_add_stage (
                          self->tuner, self->workers[i], self->sim.max_workers),
        ==, i);
  }
}

static void
rig_clear (Rig *self)
{
  spdl_tuner_free (self->tuner);
  simulation_clear (&self->sim);
}

static void
obey (Rig *self, const SpdlTunerDecision *d)
{
  if (g_test_verbose ())
    g_print ("# %.1f s: stage %u: %u -> %u, reason %d, %.0f/s busy %.2f full "
             "%.2f gain %.2f\n",
        self->sim.now / 1e9, d->stage, d->from, d->to, d->reason, d->throughput,
        d->busy, d->occupancy, d->gain);
  g_assert_cmpuint (d->from, ==, self->workers[d->stage]);
  g_assert_cmpuint (d->to, >=, 1);
  g_assert_cmpuint (d->to, <=, self->sim.max_workers);
  self->workers[d->stage] = d->to;
  self->n_decisions++;
  self->last_decision = self->sim.now;
}

static void
run_interval (Rig *self)
{
  SpdlInterval intervals[SIMULATION_STAGES] = { { 0 } };
  const SpdlTunerDecision *decisions;
  guint n;

  simulation_run (&self->sim, self->workers, intervals);
  decisions = spdl_tuner_end_interval (
      self->tuner, intervals, self->sim.now, self->throttled, &n);
  for (guint i = 0; i < n; i++)
    obey (self, &decisions[i]);
}

/* Runs until the tuner has settled. Returns the time in seconds. */
static double
run_until_steady (Rig *self, double seconds)
{
  const guint64 since = self->sim.now;

  while (self->sim.now < since + seconds * SECOND) {
    run_interval (self);
    if (spdl_tuner_is_steady (self->tuner))
      break;
  }
  return (self->sim.now - since) / 1e9;
}

static void
run_for (Rig *self, double seconds)
{
  const guint64 until = self->sim.now + seconds * SECOND;

  while (self->sim.now < until)
    run_interval (self);
}

static guint
count_workers (const Rig *self)
{
  guint sum = 0;

  for (guint i = 0; i < self->sim.n_stages; i++)
    sum += self->workers[i];
  return sum;
}

static void
describe (
    const Rig *self, guint32 seed, double took, double reached, guint fewest)
{
  g_print ("# %u: %u cores, noise %.2f, trainer %.0f:", seed, self->sim.n_cores,
      self->sim.noise, self->sim.trainer);
  for (guint i = 0; i < self->sim.n_stages; i++)
    g_print (" %.1f+%.2f ms/%u x %u", self->sim.stages[i].wait * 1e3,
        self->sim.stages[i].cpu * 1e3, self->sim.stages[i].served,
        self->workers[i]);
  g_print ("; %.1f s, %.3f of the best, %u workers of %u\n", took, reached,
      count_workers (self), fewest);
}

/* For any pipeline, the tuner settles within 30 s, stays settled, and reaches
 * 90 % of the best throughput of all combinations with few workers. */
static void
test_random_pipelines (void)
{
  guint n_bad = 0;

  for (guint32 seed = 1; seed <= N_PIPELINES; seed++) {
    Rig rig = { 0 };
    guint fewest, n_decisions;
    double took, best, reached;

    simulation_draw (&rig.sim, seed);
    rig_init (&rig);
    best = simulation_find_best (&rig.sim, 0.99, &fewest);
    took = run_until_steady (&rig, 60);
    n_decisions = rig.n_decisions;
    run_for (&rig, 120);
    reached = simulation_get_throughput (&rig.sim, rig.workers) / best;

    if (took > 30 || reached < 0.9 || rig.n_decisions != n_decisions ||
        count_workers (&rig) > 1.3 * fewest + rig.sim.n_stages + 1) {
      describe (&rig, seed, took, reached, fewest);
      n_bad++;
    }
    rig_clear (&rig);
  }
  g_assert_cmpuint (n_bad, ==, 0);
}

/* A known pipeline: it fetches and decodes, on four cores. */
static void
rig_init_known (Rig *self, double noise)
{
  *self =
      (Rig){ .sim = {
                 .n_stages = 2,
                 .stages = { { .wait = 0.05, .cpu = 1e-4 }, { .cpu = 4e-3 } },
                 .n_cores = 4,
                 .max_workers = 128,
                 .noise = noise,
                 .interval = SECOND / 10,
             } };
  self->sim.rand = g_rand_new_with_seed (1);
  rig_init (self);
}

/* The cores allow 975 items per second, with 49 waiting and 4 decoding
 * workers. */
static void
test_concurrency_of_cores (void)
{
  Rig rig;

  rig_init_known (&rig, 0.02);
  g_assert_cmpfloat (run_until_steady (&rig, 60), <, 30);
  g_assert_cmpuint (rig.workers[0], >=, 46);
  g_assert_cmpuint (rig.workers[0], <=, 64);
  g_assert_cmpuint (rig.workers[1], >=, 4);
  g_assert_cmpuint (rig.workers[1], <=, 5);
  rig_clear (&rig);
}

/* A trainer that takes 100 items per second needs six fetching workers and one
 * decoding worker. */
static void
test_slow_trainer (void)
{
  Rig rig;

  rig_init_known (&rig, 0.02);
  rig.sim.trainer = 100;
  g_assert_cmpfloat (run_until_steady (&rig, 60), <, 30);
  g_assert_cmpuint (rig.workers[0], >=, 5);
  g_assert_cmpuint (rig.workers[0], <=, 7);
  g_assert_cmpuint (rig.workers[1], ==, 1);
  rig_clear (&rig);
}

/* If the server gets slower, or the trainer faster, the search starts again and
 * ends. */
static void
test_other_load (void)
{
  Rig rig;

  rig_init_known (&rig, 0.02);
  rig.sim.trainer = 100;
  run_until_steady (&rig, 60);
  run_for (&rig, 60);
  rig.sim.stages[0].wait = 0.1;
  run_for (&rig, 60);
  g_assert_true (spdl_tuner_is_steady (rig.tuner));
  g_assert_cmpuint (rig.workers[0], >=, 10);
  g_assert_cmpuint (rig.workers[0], <=, 14);
  rig.sim.trainer = 0;
  run_for (&rig, 90);
  g_assert_true (spdl_tuner_is_steady (rig.tuner));
  g_assert_cmpfloat (simulation_get_throughput (&rig.sim, rig.workers), >, 877);
  rig_clear (&rig);
}

/* Pauses of the trainer do not count as a change of load, at any time. */
static void
test_pauses (void)
{
  for (guint i = 0; i < 40; i++) {
    Rig rig;

    rig_init_known (&rig, 0.02);
    run_for (&rig, 0.5 * i);
    rig.sim.trainer = 1e-6;
    rig.sim.rate = 0;
    run_for (&rig, 30);
    rig.sim.trainer = 0;
    run_until_steady (&rig, 40);
    run_for (&rig, 60);
    g_assert_true (spdl_tuner_is_steady (rig.tuner));
    g_assert_cmpfloat (
        simulation_get_throughput (&rig.sim, rig.workers), >, 877);
    rig_clear (&rig);
  }
}

/* While tasks are throttled, nothing is tried, and a current trial is
 * reverted. */
static void
test_throttled (void)
{
  Rig rig;

  rig_init_known (&rig, 0.02);
  while (rig.n_decisions == 0)
    run_interval (&rig);
  rig.throttled = TRUE;
  run_until_steady (&rig, 10);
  g_assert_true (spdl_tuner_is_steady (rig.tuner));
  g_assert_cmpuint (rig.workers[0], ==, 16);
  g_assert_cmpuint (rig.workers[1], ==, 4);
  rig.n_decisions = 0;
  run_for (&rig, 60);
  g_assert_cmpuint (rig.n_decisions, ==, 0);

  rig.throttled = FALSE;
  run_for (&rig, 60);
  g_assert_true (spdl_tuner_is_steady (rig.tuner));
  g_assert_cmpfloat (simulation_get_throughput (&rig.sim, rig.workers), >, 877);
  rig_clear (&rig);
}

/* A stage that gets no items, as in a branch, only delays the search. */
static void
test_idle_stage (void)
{
  Rig rig;
  guint idle;

  rig_init_known (&rig, 0.02);
  idle = spdl_tuner_add_stage (rig.tuner, 2, 16);
  rig.workers[idle] = 2;
  run_until_steady (&rig, 60);
  g_assert_true (spdl_tuner_is_steady (rig.tuner));
  g_assert_cmpuint (rig.n_decisions, >, 0);
  g_assert_cmpuint (rig.workers[idle], <=, 2);
  g_assert_cmpfloat (simulation_get_throughput (&rig.sim, rig.workers), >, 877);
  rig_clear (&rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tuner/random-pipelines", test_random_pipelines);
  g_test_add_func ("/tuner/concurrency-of-cores", test_concurrency_of_cores);
  g_test_add_func ("/tuner/slow-trainer", test_slow_trainer);
  g_test_add_func ("/tuner/other-load", test_other_load);
  g_test_add_func ("/tuner/pauses", test_pauses);
  g_test_add_func ("/tuner/throttled", test_throttled);
  g_test_add_func ("/tuner/idle-stage", test_idle_stage);
  return g_test_run ();
}
