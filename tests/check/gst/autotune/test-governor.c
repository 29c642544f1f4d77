/* gst-spdl: tests of the budget, on a clock of their own
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/governor.h"

#include <math.h>

#define INTERVAL 0.02

/* A stage whose tasks compute, on cores that are free, and other threads that
 * take as much as is in proportion to it. */
typedef struct {
  SpdlGovernor governor;
  guint n_cores;
  guint n_workers;
  double share;  /* of a core that a worker uses */
  double beside; /* CPU time of others, as a share of the stage's */
  double always; /* cores that others use whatever it does */
  double wanted; /* cores that the trainer asks for; 0: all */
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

/* Returns the cores that were used on average. */
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

/* Less than a worker, between two numbers of them, and with more workers than
 * cores: what is used in a minute is the budget, and the number stays. */
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

/* What does not use the budget up is left alone. */
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

/* A trainer that takes less for a while gets the rest back, and what was not
 * used meanwhile is not used up later. */
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

/* Where others use more than is granted, all that can be held back is. */
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
