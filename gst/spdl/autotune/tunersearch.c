/* gst-spdl: the search for the concurrency: what is tried
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/tuner-private.h"

#include <math.h>

/* Shares of a stage's workers that are in tasks, from which on it may be the
 * limit, and up to which some of them can go. */
#define BUSY 0.75
#define RATHER_IDLE 0.7
/* What is to be left where a stage follows another, and where idle workers
 * go. */
#define FULLEST 0.9
#define SPARE 1.15
/* A gain that counts, at least and at most, by the noise; and a loss that does
 * not, of one trial and of all together. */
#define MIN_GAIN 0.04
#define MAX_GAIN 0.15
#define NO_LOSS 0.03
#define MAX_LOSS 0.05
/* A gain of so much of what was added is in proportion; of so little, it may be
 * chance. */
#define PROPORTIONAL 0.85
#define BY_CHANCE 0.3

/* Up */

/* Beyond as many as keep all cores busy, none that computes gains. */
static guint
bound_of (const SpdlTuner *self, const SpdlTunerStage *stage)
{
  const double share = stage->computing;
  const double useful = share > 0 ? ceil (self->num_cores / share) : G_MAXUINT;

  return MAX (MIN (stage->max, useful), 1);
}

/* Where results leave in order, workers wait for slow tasks to end. */
static gboolean
may_limit (const SpdlTuner *self, guint i)
{
  return spdl_window_get_busy (&self->base, i) >= BUSY * self->stages[i].n ||
         spdl_tuner_is_narrow (&self->base, i);
}

static guint
raised (const SpdlTuner *self, guint i, double wanted)
{
  const SpdlTunerStage *stage = &self->stages[i];

  return MAX (MIN ((guint) ceil (wanted), bound_of (self, stage)), stage->n);
}

static gboolean
find_candidates (SpdlTuner *self)
{
  gboolean any = FALSE;

  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];

    /* So few more at the bound would tell nothing. */
    stage->candidate =
        may_limit (self, i) && raised (self, i, stage->n * self->growth) >=
                                   stage->n + MAX (stage->n / 10, 1);
    any |= stage->candidate;
  }
  return any;
}

gboolean
spdl_climb_raise (SpdlTuner *self)
{
  if (self->growth == 0 || !find_candidates (self)) {
    self->growth = 0;
    return FALSE;
  }

  spdl_tuner_begin_trial (self);
  for (guint i = 0; i < self->n_stages; i++) {
    const SpdlTunerStage *stage = &self->stages[i];
    const double busy = spdl_window_get_busy (&self->base, i);
    guint to;

    if (stage->candidate) {
      to = raised (self, i, stage->n * self->growth);
      spdl_tuner_decide (self, i, to, SPDL_TUNER_LIMITS);
    } else {
      to = raised (self, i, busy * self->growth / FULLEST);
      if (to > stage->n)
        spdl_tuner_decide (self, i, to, SPDL_TUNER_FOLLOWS);
    }
  }
  spdl_tuner_measure (self, STEP_RAISE);
  return TRUE;
}

/* What a gain that is less than what was added tells of the knee. A small one
 * may be chance. */
static void
learn_from_gain (SpdlTuner *self, double gain)
{
  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];
    const double added = stage->n / (double) stage->before - 1;

    if (!stage->candidate)
      continue;
    if (gain < BY_CHANCE * added || self->growth < SPDL_GROWTH) {
      if (stage->knee == 0 && stage->too_few > 0)
        stage->knee = stage->before;
      continue;
    }
    stage->too_few = stage->before;
    stage->knee = gain < PROPORTIONAL * added ? stage->before * (1 + gain) : 0;
  }
}

void
spdl_climb_conclude_raise (SpdlTuner *self, double ratio, double noise)
{
  const double enough = CLAMP (2 * noise, MIN_GAIN, MAX_GAIN);

  if (ratio - 1 >= enough) {
    learn_from_gain (self, ratio - 1);
    spdl_tuner_keep (self);
    return;
  }
  /* Where so many did harm, less may gain, even if it was just undone. */
  if (self->growth == SPDL_LEAST_GROWTH)
    self->growth = 0;
  else
    self->growth = 1 - ratio >= enough && self->growth == SPDL_GROWTH
                       ? SPDL_SMALL_GROWTH
                       : SPDL_LEAST_GROWTH;
  spdl_tuner_take_back (self, ratio);
}

/* Down */

/* So many workers are enough for what these do. */
static guint
count_busy (double busy)
{
  return MAX ((guint) ceil (busy * SPARE + 0.2), 1);
}

gboolean
spdl_climb_fit (SpdlTuner *self)
{
  gboolean any = FALSE;

  if (self->fits == 0)
    return FALSE;
  spdl_tuner_begin_trial (self);
  for (guint i = 0; i < self->n_stages; i++) {
    const SpdlTunerStage *stage = &self->stages[i];
    const double busy = spdl_window_get_busy (&self->base, i);
    guint to = count_busy (busy);

    if (self->fits == 1)
      to = (to + stage->n + 1) / 2;
    if (busy >= RATHER_IDLE * stage->n || to >= stage->n)
      continue;
    spdl_tuner_decide (self, i, to, SPDL_TUNER_IDLE);
    any = TRUE;
  }
  if (any)
    spdl_tuner_measure (self, STEP_FIT);
  else
    self->fits = 0;
  return any;
}

/* Whether so much of the rate is left that the trial may stay. */
static gboolean
is_no_loss (SpdlTuner *self, double ratio, double noise)
{
  /* One more or less of few. */
  const double one = 1.0 / MAX (spdl_window_get_tasks (&self->trial), 10);
  const double left = self->kept * MIN (ratio + one, 1);

  if (ratio + one < 1 - CLAMP (2 * noise, NO_LOSS, 2 * NO_LOSS) ||
      left < 1 - MAX_LOSS)
    return FALSE;
  self->kept = left;
  return TRUE;
}

void
spdl_climb_conclude_fit (SpdlTuner *self, double ratio, double noise)
{
  if (is_no_loss (self, ratio, noise)) {
    self->fits = 0;
    /* They were not the limit, and are now: it was a short one of others. */
    if (!spdl_tuner_any_narrow (self, &self->base) &&
        spdl_tuner_any_narrow (self, &self->trial)) {
      self->growth = SPDL_GROWTH;
      self->goes_down = FALSE;
    }
    spdl_tuner_keep (self);
    return;
  }
  self->fits--;
  spdl_tuner_take_back (self, ratio);
}

/* How many may do as well. Where none of the stages is the limit, workers that
 * are busy are needed. Returns as many as there are, if there is nothing to
 * try. */
static guint
guess_fewer (const SpdlTuner *self, guint i)
{
  const SpdlTunerStage *stage = &self->stages[i];
  const double busy = spdl_window_get_busy (&self->base, i);
  guint to = stage->n;

  if (busy < RATHER_IDLE * stage->n)
    to = MAX (count_busy (busy), stage->too_few + stage->too_few / 2 + 1);
  else if (busy < FULLEST * stage->n &&
           !spdl_tuner_any_narrow (self, &self->base))
    return stage->n;
  else if (stage->knee > 0)
    to = MAX (ceil (stage->knee * 1.05 - 0.3), 1);
  else if (stage->too_few == 0)
    to = (stage->n + 2) / 3;
  return to > stage->too_few && to + MAX (stage->n / 10, 1) <= stage->n
             ? to
             : stage->n;
}

gboolean
spdl_climb_lower (SpdlTuner *self)
{
  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];
    const guint to = stage->lowered ? stage->n : guess_fewer (self, i);

    stage->lowered = to == stage->n;
    if (stage->lowered)
      continue;
    spdl_tuner_begin_trial (self);
    spdl_tuner_decide (self, i, to, SPDL_TUNER_SPARE);
    self->lowering = i;
    spdl_tuner_measure (self, STEP_LOWER);
    return TRUE;
  }
  return FALSE;
}

void
spdl_climb_conclude_lower (SpdlTuner *self, double ratio, double noise)
{
  SpdlTunerStage *stage = &self->stages[self->lowering];

  if (is_no_loss (self, ratio, noise)) {
    stage->knee = 0;
    self->growth = SPDL_LEAST_GROWTH;
    spdl_tuner_keep (self);
    return;
  }
  stage->too_few = stage->n;
  stage->knee = stage->n / MIN (ratio, 1);
  spdl_tuner_take_back (self, ratio);
}
