/* gst-spdl: tests of the CPU budget with virtual time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/governor.h"

#include <math.h>

#define INTERVAL 0.02

/* A stage with computing tasks, enough free cores, and other threads whose CPU
 * usage is proportional to it. */
typedef struct {
  SpdlGovernor governor;
  guint n_cores;
  guint n_workers;
  double share;  /* CPU usage of a worker, in cores */
  double beside; /* CPU time of other threads, relative to the stage */
  double always; /* constant CPU usage of other threads, in cores */
  double wanted; /* cores that the trainer requests; 0: unlimited */
  double now;
  double used; /* CPU time */
  guint n_changes;
  guint n_flips;
} Rig;

static void
run_interval (Rig *self)
{
  const guint may = spdl_governor_get_workers (&self->governor);
  const double running = MIN (may, self->n_workers);
  const double free = MAX (self->n_cores - self->always, 0);
  double cores =
      MIN (running * self->share * (1 + self->beside), free) + self->always;

  if (self->wanted > 0)
    cores = MIN (cores, self->wanted);
  self->now += INTERVAL;
  self->used += cores * INTERVAL;
  self->n_changes += spdl_governor_end_interval (&self->governor,
      INTERVAL * 1e9, cores * INTERVAL * 1e9, running, self->n_workers);
  self->n_flips += spdl_governor_get_workers (&self->governor) != may;
}

/* Runs the simulation. Returns the average number of cores used. */
static double
run_for (Rig *self, double seconds)
{
  const double until = self->now + seconds;
  const double before = self->used, since = self->now;

  self->n_changes = self->n_flips = 0;
  while (self->now < until)
    run_interval (self);
  return (self->used - before) / (self->now - since);
}

static void
rig_init (Rig *self, double budget)
{
  spdl_governor_init (&self->governor, budget, self->n_cores);
}

/* Budgets of less than one worker, between two numbers of workers, and with
 * more workers than cores: over a minute, CPU usage equals the budget, and the
 * number of workers is stable. */
static void
test_holds (void)
{
  static const Rig rigs[] = {
    { .n_cores = 2, .n_workers = 2, .share = 0.95, .beside = 0.1 },
    { .n_cores = 2, .n_workers = 8, .share = 0.9 },
    { .n_cores = 1, .n_workers = 1, .share = 1 },
    { .n_cores = 16, .n_workers = 16, .share = 0.97, .beside = 0.2 },
    { .n_cores = 16, .n_workers = 64, .share = 0.3 },
    { .n_cores = 64, .n_workers = 64, .share = 1 },
  };
  static const double budgets[] = { 0.1, 0.4, 0.55, 0.8 };

  for (guint i = 0; i < G_N_ELEMENTS (rigs); i++)
    for (guint j = 0; j < G_N_ELEMENTS (budgets); j++) {
      Rig rig = rigs[i];
      double used;

      rig_init (&rig, budgets[j]);
      used = run_for (&rig, 60) / rig.n_cores;
      g_assert_cmpfloat_with_epsilon (used, budgets[j], 0.01);
      g_assert_cmpuint (rig.n_changes, <, 30);
      used = run_for (&rig, 60) / rig.n_cores;
      g_assert_cmpfloat_with_epsilon (used, budgets[j], 0.005);
      g_assert_cmpuint (rig.n_changes, <=, 2);
    }
}

/* A stage that does not use up the budget is not limited. */
static void
test_no_limit (void)
{
  Rig rig = { .n_cores = 4, .n_workers = 4, .share = 1, .wanted = 1.5 };

  rig_init (&rig, 0.4);
  g_assert_cmpfloat_with_epsilon (run_for (&rig, 60), 1.5, 0.001);
  g_assert_cmpuint (rig.n_flips, ==, 0);
  g_assert_cmpuint (
      spdl_governor_get_workers (&rig.governor), ==, SPDL_GOVERNOR_NO_LIMIT);
}

/* When a trainer requests less for a while, it gets the full budget back
 * afterwards, but the unused budget does not accumulate. */
static void
test_less_and_more (void)
{
  Rig rig = { .n_cores = 8, .n_workers = 8, .share = 1 };

  rig_init (&rig, 0.5);
  run_for (&rig, 10);
  g_assert_cmpuint (spdl_governor_get_workers (&rig.governor), <=, 5);
  rig.wanted = 1;
  g_assert_cmpfloat_with_epsilon (run_for (&rig, 30), 1, 0.001);
  g_assert_cmpuint (
      spdl_governor_get_workers (&rig.governor), ==, SPDL_GOVERNOR_NO_LIMIT);
  rig.wanted = 0;
  g_assert_cmpfloat (run_for (&rig, 5), <, 4.25);
  g_assert_cmpfloat_with_epsilon (run_for (&rig, 30), 4, 0.02);
}

/* If other threads exceed the budget, the stage is limited as far as
 * possible. */
static void
test_overdrawn (void)
{
  Rig rig = { .n_cores = 4, .n_workers = 2, .share = 1, .always = 2 };

  rig_init (&rig, 0.25);
  run_for (&rig, 10);
  g_assert_true (spdl_governor_is_overdrawn (&rig.governor));
  g_assert_cmpuint (spdl_governor_get_workers (&rig.governor), ==, 0);
  rig.always = 0;
  run_for (&rig, 20);
  g_assert_false (spdl_governor_is_overdrawn (&rig.governor));
  g_assert_cmpfloat_with_epsilon (run_for (&rig, 30), 1, 0.02);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/governor/holds", test_holds);
  g_test_add_func ("/governor/no-limit", test_no_limit);
  g_test_add_func ("/governor/less-and-more", test_less_and_more);
  g_test_add_func ("/governor/overdrawn", test_overdrawn);
  return g_test_run ();
}
