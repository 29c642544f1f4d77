/* gst-spdl: search for the best concurrency of stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/tuner.h"

#include <math.h>

/* What is tried, one after the other where the one before gained nothing. */
#define SPDL_GROWTH 2.0
#define SPDL_SMALL_GROWTH 1.4
#define SPDL_LEAST_GROWTH 1.15

typedef struct {
  guint n;
  guint max;
  guint before; /* the trial */
  gboolean candidate;
  guint too_few;    /* the most that is known to be; 0 */
  double knee;      /* from where on more gain nothing, about; 0: not known */
  gboolean lowered; /* as far as it goes */
  double computing; /* the most of its tasks' time on a CPU */
  double time;      /* a task's, when it settled */
  guint settled;    /* the last time, at so many */
} SpdlTunerStage;

typedef enum {
  STEP_BEGIN, /* until tasks of all stages have ended */
  STEP_BASE,
  STEP_RAISE,
  STEP_FIT,
  STEP_LOWER,
  STEP_STEADY,
} SpdlTunerStep;

struct _SpdlTuner {
  guint num_cores;
  guint n_stages;
  SpdlTunerStage stages[SPDL_MAX_TUNED];
  SpdlTunerStep step;
  guint64 now;
  guint64 settling_until;
  gboolean throttled;
  SpdlWindow base;
  guint64 base_at;  /* when it ended */
  SpdlWindow trial; /* or what is watched */
  /* The search. */
  double growth; /* of the next raise; 0: enough */
  gboolean goes_down;
  guint fits; /* that are left */
  guint lowering;
  double kept; /* of the rate, after trials that lost a little */
  guint stalls;
  /* Since it is steady. */
  guint64 settled_at;
  guint64 patience;
  guint n_others; /* windows that were others */
  gboolean was_throttled;
  gboolean was_narrow; /* one of the stages */

  guint n_decisions;
  SpdlTunerDecision decisions[2 * SPDL_MAX_TUNED];
};

static gboolean search_raise (SpdlTuner *self);
static gboolean search_fit (SpdlTuner *self);
static gboolean search_lower (SpdlTuner *self);
static void search_conclude_raise (SpdlTuner *self, double ratio, double noise);
static void search_conclude_fit (SpdlTuner *self, double ratio, double noise);
static void search_conclude_lower (SpdlTuner *self, double ratio, double noise);

/* Something waits before a stage, and behind it nothing is in the way, from
 * and up to these shares of the time. */
#define FULL 0.6
#define FREE 0.5

/* A rate that falls so low has other reasons: the trainer does something
 * else. */
#define STALLED 0.3
#define MAX_STALLS 3

/* What a measurement takes, in ns. */
#define MIN_WINDOW 500e6
#define MAX_WINDOW 1800e6
#define MIN_BLOCKS 5
#define MIN_TASKS 20
#define MAX_AGE 5e9
#define SURE 0.015
#define MIN_SETTLING 200e6
#define MAX_SETTLING 1000e6

/* When it is steady. */
#define WATCH_WINDOW 5e9
#define WATCH_WINDOWS 2
#define OTHER_RATE 1.3
#define OTHER_TIME 1.5
#define IDLE_RATE 0.05
#define MIN_PATIENCE 20e9
#define MAX_PATIENCE 600e9
/* Numbers that are as far apart as that are the same. */
#define SAME 0.25

SpdlTuner *
spdl_tuner_new (guint num_cores)
{
  SpdlTuner *self = g_new0 (SpdlTuner, 1);

  self->num_cores = num_cores;
  spdl_tuner_begin (self);
  return self;
}

void
spdl_tuner_free (SpdlTuner *self)
{
  g_free (self);
}

static void
restart_search (SpdlTuner *self, SpdlTunerStep step)
{
  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];

    stage->too_few = 0;
    stage->knee = stage->computing = 0;
    stage->lowered = FALSE;
  }
  self->step = step;
  self->growth = SPDL_GROWTH;
  self->goes_down = FALSE;
  self->fits = 2;
  self->kept = 1;
  self->stalls = 0;
  self->settling_until = 0;
  spdl_window_init (&self->base, self->n_stages);
  spdl_window_init (&self->trial, self->n_stages);
}

void
spdl_tuner_begin (SpdlTuner *self)
{
  self->n_stages = 0;
  self->patience = MIN_PATIENCE;
  restart_search (self, STEP_BEGIN);
}

guint
spdl_tuner_add_stage (SpdlTuner *self, guint concurrency, guint max)
{
  const guint i = self->n_stages++;

  g_assert (self->n_stages <= SPDL_MAX_TUNED);

  self->stages[i] = (SpdlTunerStage){ .max = max, .n = MIN (concurrency, max) };
  restart_search (self, STEP_BEGIN);
  return i;
}

gboolean
spdl_tuner_is_steady (const SpdlTuner *self)
{
  return self->step == STEP_STEADY;
}

/* Decisions */

/* Sets a stage's number. */
static SpdlTunerDecision *
spdl_tuner_decide (SpdlTuner *self, guint i, guint to, SpdlTunerReason reason)
{
  SpdlTunerStage *stage = &self->stages[i];
  SpdlTunerDecision *d = &self->decisions[self->n_decisions++];

  *d = (SpdlTunerDecision){
    .stage = i,
    .from = stage->n,
    .to = to,
    .reason = reason,
    .throughput = spdl_window_get_item_rate (&self->base, i),
    .occupancy = spdl_window_get_occupancy (&self->base, i),
    .busy = MIN (spdl_window_get_busy (&self->base, i) / stage->n, 1),
  };
  stage->n = to;
  return d;
}

/* From now on, after a while in which the pipeline settles. */
static void
begin_measurement (SpdlTuner *self, SpdlTunerStep step)
{
  const double longest = spdl_window_get_longest_task (&self->base);

  self->step = step;
  self->settling_until =
      self->now + CLAMP (2 * longest, MIN_SETTLING, MAX_SETTLING);
  spdl_window_init (
      step == STEP_BASE ? &self->base : &self->trial, self->n_stages);
}

/* Remembers what there is, then come decisions and a measurement. Then the
 * trial stays, or is taken back; @ratio: its rate, as a multiple. */
static void
begin_trial (SpdlTuner *self)
{
  for (guint i = 0; i < self->n_stages; i++)
    self->stages[i].before = self->stages[i].n;
}

/* Takes the trial back. What was measured before it is measured anew after a
 * while: the machine may be another one by then. */
static void
take_back (SpdlTuner *self, double ratio)
{
  const SpdlTunerReason reason = self->throttled            ? SPDL_TUNER_HELD
                                 : self->step == STEP_RAISE ? SPDL_TUNER_NO_GAIN
                                                            : SPDL_TUNER_LOSS;

  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];

    if (stage->n == stage->before)
      continue;
    SpdlTunerDecision *d = spdl_tuner_decide (self, i, stage->before, reason);
    d->gain = ratio;
    d->throughput = spdl_window_get_item_rate (&self->trial, i);
    d->occupancy = spdl_window_get_occupancy (&self->trial, i);
    d->busy = MIN (spdl_window_get_busy (&self->trial, i) / d->from, 1);
  }
  if (self->now - self->base_at > MAX_AGE || ratio < STALLED)
    begin_measurement (self, STEP_BASE);
}

/* The trial stays. */
static void
keep_concurrency (SpdlTuner *self)
{
  self->base = self->trial;
  self->base_at = self->now;
}

/* Something waits before it, and nothing is in the way behind it. */
static gboolean
is_narrow (const SpdlWindow *window, guint i)
{
  return spdl_window_get_occupancy (window, i) >= FULL &&
         spdl_window_get_pushing (window, i) < FREE;
}

static gboolean
any_narrow (const SpdlTuner *self, const SpdlWindow *window)
{
  for (guint i = 0; i < self->n_stages; i++)
    if (is_narrow (window, i))
      return TRUE;
  return FALSE;
}

/* Steady */

static void
settle_search (SpdlTuner *self)
{
  gboolean same = self->settled_at != 0;

  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];

    same = same && fabs ((double) stage->n - stage->settled) <=
                       MAX (SAME * stage->settled, 1);
    stage->settled = stage->n;
    stage->time = spdl_window_get_task_time (&self->base, i);
    spdl_tuner_decide (self, i, stage->n, SPDL_TUNER_SETTLED);
  }
  self->patience = same ? MIN (2 * self->patience, MAX_PATIENCE) : MIN_PATIENCE;
  self->settled_at = self->now;
  self->was_throttled = self->throttled;
  self->was_narrow = any_narrow (self, &self->base);
  self->n_others = 0;
  self->step = STEP_STEADY;
  spdl_window_init (&self->trial, self->n_stages);
}

static gboolean
is_other (double a, double b, double factor)
{
  return a > b * factor || b > a * factor;
}

/* Returns the stage whose figures are others than when it settled, or
 * n_stages. */
static guint
find_other (const SpdlTuner *self)
{
  const double rate = spdl_window_get_rate (&self->trial);
  const double before = spdl_window_get_rate (&self->base);

  if (rate < IDLE_RATE * before)
    return self->n_stages;
  for (guint i = 0; i < self->n_stages; i++)
    if (self->trial.sums[i].timed >= MIN_TASKS &&
        is_other (spdl_window_get_task_time (&self->trial, i),
            self->stages[i].time, OTHER_TIME))
      return i;
  /* Fitted to a trainer that was slow, they are the limit as soon as it is not,
   * and the rate is hardly another one. */
  return is_other (rate, before, OTHER_RATE) ||
                 (!self->was_narrow && any_narrow (self, &self->trial)) ||
                 self->throttled != self->was_throttled
             ? 0
             : self->n_stages;
}

static void
watch_rate (SpdlTuner *self)
{
  guint other;

  if (self->trial.elapsed < WATCH_WINDOW)
    return;
  other = find_other (self);
  self->n_others = other < self->n_stages ? self->n_others + 1 : 0;
  if (self->n_others >= WATCH_WINDOWS &&
      self->now - self->settled_at >= self->patience) {
    self->base = self->trial;
    spdl_tuner_decide (self, other, self->stages[other].n, SPDL_TUNER_LOAD);
    restart_search (self, STEP_BASE);
  }
  spdl_window_init (&self->trial, self->n_stages);
}

/* Intervals */

static void
go_on (SpdlTuner *self)
{
  if (self->throttled) {
    settle_search (self);
    return;
  }
  if (!self->goes_down && search_raise (self))
    return;
  self->goes_down = TRUE;
  if (!search_fit (self) && !search_lower (self) && !search_raise (self))
    settle_search (self);
}

/* Whether the window says enough; @ratio: of a trial; 0: of none. */
static gboolean
is_enough (const SpdlWindow *window, double ratio, double noise)
{
  const double most =
      MAX (MAX_WINDOW, (MIN_BLOCKS + 1) * spdl_window_get_block (window));

  if (window->elapsed >= most)
    return TRUE;
  if (window->elapsed < MIN_WINDOW || window->n_blocks < MIN_BLOCKS ||
      spdl_window_get_tasks (window) < MIN_TASKS)
    return FALSE;
  return spdl_window_get_noise (window) <= SURE ||
         (ratio > 0 && fabs (ratio - 1) > 0.05 + 4 * noise);
}

static void
conclude_base (SpdlTuner *self)
{
  if (!is_enough (&self->base, 0, 0))
    return;
  self->base_at = self->now;
  if (spdl_window_get_rate (&self->base) > 0)
    go_on (self);
  else
    begin_measurement (self, STEP_BASE);
}

/* The trainer did something else: neither was what it seems. */
static void
begin_again (SpdlTuner *self)
{
  const guint stalls = self->stalls + 1;

  restart_search (self, STEP_BASE);
  self->stalls = stalls;
}

static void
conclude_trial (SpdlTuner *self)
{
  const double before = spdl_window_get_rate (&self->base);
  const double ratio = spdl_window_get_rate (&self->trial) / before;
  const double noise = hypot (spdl_window_get_noise (&self->base),
      spdl_window_get_noise (&self->trial));

  if (self->throttled) {
    take_back (self, ratio);
    settle_search (self);
    return;
  }
  if (!is_enough (&self->trial, ratio, noise))
    return;
  if (ratio < STALLED && self->stalls < MAX_STALLS) {
    take_back (self, ratio);
    begin_again (self);
    return;
  }
  switch (self->step) {
    case STEP_RAISE:
      search_conclude_raise (self, ratio, noise);
      break;
    case STEP_FIT:
      search_conclude_fit (self, ratio, noise);
      break;
    default:
      search_conclude_lower (self, ratio, noise);
      break;
  }
  if (self->step != STEP_BASE)
    go_on (self);
}

static void
learn_computing (SpdlTuner *self, const SpdlWindow *window)
{
  for (guint i = 0; i < self->n_stages; i++) {
    const double share = spdl_window_get_computing (window, i);

    if (window->sums[i].timed >= MIN_TASKS)
      self->stages[i].computing = MAX (self->stages[i].computing, share);
  }
}

/* The first tasks say little: caches and connections are cold. */
static void
wait_for_tasks (SpdlTuner *self)
{
  for (guint i = 0; i < self->n_stages; i++)
    if (self->base.sums[i].timed == 0)
      return;
  begin_measurement (self, STEP_BASE);
}

const SpdlTunerDecision *
spdl_tuner_end_interval (SpdlTuner *self, const SpdlInterval *intervals,
    guint64 now, gboolean throttled, guint *n)
{
  const guint64 elapsed = self->now > 0 ? now - self->now : 0;
  SpdlWindow *window = self->step <= STEP_BASE ? &self->base : &self->trial;

  self->now = now;
  self->throttled = throttled;
  self->n_decisions = 0;
  if (elapsed > 0 && now >= self->settling_until + elapsed) {
    spdl_window_add (window, intervals, elapsed);
    learn_computing (self, window);
    if (self->step == STEP_BEGIN)
      wait_for_tasks (self);
    else if (self->step == STEP_BASE)
      conclude_base (self);
    else if (self->step == STEP_STEADY)
      watch_rate (self);
    else
      conclude_trial (self);
  }
  *n = self->n_decisions;
  return self->decisions;
}

/* Search */

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
         is_narrow (&self->base, i);
}

static guint
get_raised_concurrency (const SpdlTuner *self, guint i, double wanted)
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
        may_limit (self, i) &&
        get_raised_concurrency (self, i, stage->n * self->growth) >=
            stage->n + MAX (stage->n / 10, 1);
    any |= stage->candidate;
  }
  return any;
}

/* Begin a trial: up; down to what is busy; and down by one stage, to see. FALSE
 * if there is nothing to try. */
static gboolean
search_raise (SpdlTuner *self)
{
  if (self->growth == 0 || !find_candidates (self)) {
    self->growth = 0;
    return FALSE;
  }

  begin_trial (self);
  for (guint i = 0; i < self->n_stages; i++) {
    const SpdlTunerStage *stage = &self->stages[i];
    const double busy = spdl_window_get_busy (&self->base, i);
    guint to;

    if (stage->candidate) {
      to = get_raised_concurrency (self, i, stage->n * self->growth);
      spdl_tuner_decide (self, i, to, SPDL_TUNER_LIMITS);
    } else {
      to = get_raised_concurrency (self, i, busy * self->growth / FULLEST);
      if (to > stage->n)
        spdl_tuner_decide (self, i, to, SPDL_TUNER_FOLLOWS);
    }
  }
  begin_measurement (self, STEP_RAISE);
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

/* End it. @noise: of the ratio */
static void
search_conclude_raise (SpdlTuner *self, double ratio, double noise)
{
  const double enough = CLAMP (2 * noise, MIN_GAIN, MAX_GAIN);

  if (ratio - 1 >= enough) {
    learn_from_gain (self, ratio - 1);
    keep_concurrency (self);
    return;
  }
  /* Where so many did harm, less may gain, even if it was just undone. */
  if (self->growth == SPDL_LEAST_GROWTH)
    self->growth = 0;
  else
    self->growth = 1 - ratio >= enough && self->growth == SPDL_GROWTH
                       ? SPDL_SMALL_GROWTH
                       : SPDL_LEAST_GROWTH;
  take_back (self, ratio);
}

/* Down */

/* So many workers are enough for what these do. */
static guint
count_busy (double busy)
{
  return MAX ((guint) ceil (busy * SPARE + 0.2), 1);
}

static gboolean
search_fit (SpdlTuner *self)
{
  gboolean any = FALSE;

  if (self->fits == 0)
    return FALSE;
  begin_trial (self);
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
    begin_measurement (self, STEP_FIT);
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

static void
search_conclude_fit (SpdlTuner *self, double ratio, double noise)
{
  if (is_no_loss (self, ratio, noise)) {
    self->fits = 0;
    /* They were not the limit, and are now: it was a short one of others. */
    if (!any_narrow (self, &self->base) && any_narrow (self, &self->trial)) {
      self->growth = SPDL_GROWTH;
      self->goes_down = FALSE;
    }
    keep_concurrency (self);
    return;
  }
  self->fits--;
  take_back (self, ratio);
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
  else if (busy < FULLEST * stage->n && !any_narrow (self, &self->base))
    return stage->n;
  else if (stage->knee > 0)
    to = MAX (ceil (stage->knee * 1.05 - 0.3), 1);
  else if (stage->too_few == 0)
    to = (stage->n + 2) / 3;
  return to > stage->too_few && to + MAX (stage->n / 10, 1) <= stage->n
             ? to
             : stage->n;
}

static gboolean
search_lower (SpdlTuner *self)
{
  for (guint i = 0; i < self->n_stages; i++) {
    SpdlTunerStage *stage = &self->stages[i];
    const guint to = stage->lowered ? stage->n : guess_fewer (self, i);

    stage->lowered = to == stage->n;
    if (stage->lowered)
      continue;
    begin_trial (self);
    spdl_tuner_decide (self, i, to, SPDL_TUNER_SPARE);
    self->lowering = i;
    begin_measurement (self, STEP_LOWER);
    return TRUE;
  }
  return FALSE;
}

static void
search_conclude_lower (SpdlTuner *self, double ratio, double noise)
{
  SpdlTunerStage *stage = &self->stages[self->lowering];

  if (is_no_loss (self, ratio, noise)) {
    stage->knee = 0;
    self->growth = SPDL_LEAST_GROWTH;
    keep_concurrency (self);
    return;
  }
  stage->too_few = stage->n;
  stage->knee = stage->n / MIN (ratio, 1);
  take_back (self, ratio);
}
