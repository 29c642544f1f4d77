/* gst-spdl: search for the best concurrency of stages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/tuner.h"

#include <math.h>

/* Factors of the concurrency in a trial. The smaller factor is tried if the
 * larger one did not help. */
#define SPDL_GROWTH 2.0
#define SPDL_SMALL_GROWTH 1.4
#define SPDL_LEAST_GROWTH 1.15

typedef struct {
  guint n;
  guint max;
  guint before; /* concurrency before the trial */
  gboolean candidate;
  guint too_few; /* highest concurrency known to be too low; 0: unknown */
  double knee; /* approximate concurrency above which throughput stays the same;
                  0: unknown */
  gboolean lowered; /* cannot be lowered further */
  double computing; /* maximum share of CPU time in the time of tasks */
  double time;      /* duration of a task when the search settled */
  guint settled;    /* concurrency when the search last settled */
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
  guint64 base_at;  /* time when it was measured */
  SpdlWindow trial; /* trial or watched window */
  /* State of the search. */
  double growth; /* of the next raise; 0: do not raise */
  gboolean goes_down;
  guint fits; /* remaining attempts to lower idle stages */
  guint lowering;
  double kept; /* product of the rate factors of trials with a small loss */
  guint stalls;
  /* State while steady. */
  guint64 settled_at;
  guint64 patience;
  guint n_others; /* consecutive windows that differ */
  gboolean was_throttled;
  gboolean was_narrow; /* a stage was the bottleneck */

  guint n_decisions;
  SpdlTunerDecision decisions[2 * SPDL_MAX_TUNED];
};

static gboolean search_raise (SpdlTuner *self);
static gboolean search_fit (SpdlTuner *self);
static gboolean search_lower (SpdlTuner *self);
static void search_conclude_raise (SpdlTuner *self, double ratio, double noise);
static void search_conclude_fit (SpdlTuner *self, double ratio, double noise);
static void search_conclude_lower (SpdlTuner *self, double ratio, double noise);

/* A stage is the bottleneck if its queue is occupied for at least FULL of the
 * time, and its results are blocked for less than FREE of the time. */
#define FULL 0.6
#define FREE 0.5

/* If the rate drops below this factor, the cause is not the trial: the trainer
 * is busy with something else. */
#define STALLED 0.3
#define MAX_STALLS 3

/* Limits of a measurement; times in ns. */
#define MIN_WINDOW 500e6
#define MAX_WINDOW 1800e6
#define MIN_BLOCKS 5
#define MIN_TASKS 20
#define MAX_AGE 5e9
#define MAX_WAIT 10e9
#define SURE 0.015
#define MIN_SETTLING 200e6
#define MAX_SETTLING 1000e6

/* Limits for watching while steady; times in ns. */
#define WATCH_WINDOW 5e9
#define WATCH_WINDOWS 2
#define OTHER_RATE 1.3
#define OTHER_TIME 1.5
#define IDLE_RATE 0.05
#define MIN_PATIENCE 20e9
#define MAX_PATIENCE 600e9
/* Numbers of workers that differ by less than this share count as equal. */
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

/* Decides a new concurrency of a stage. */
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

/* Starts a measurement, after a time in which the pipeline settles. */
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

/* Starts a trial: stores the current concurrency. Decisions and a measurement
 * follow; then the trial is kept or reverted. */
static void
begin_trial (SpdlTuner *self)
{
  for (guint i = 0; i < self->n_stages; i++)
    self->stages[i].before = self->stages[i].n;
}

/* Reverts the trial. @ratio: rate of the trial, relative to the base. An old
 * base is measured again, because the load of the machine may have changed. */
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

/* Keeps the trial as the new base. */
static void
keep_concurrency (SpdlTuner *self)
{
  self->base = self->trial;
  self->base_at = self->now;
}

/* Returns TRUE if stage @i is the bottleneck: its queue is occupied, and
 * downstream does not block it. */
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

/* Steady state */

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

/* Returns the stage whose figures have changed since the search settled, or
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
  /* A bottleneck may appear although the rate has hardly changed: the
   * concurrency was fitted to a slow trainer that is faster now. */
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

/* Returns TRUE if the window is sufficient for a decision. @ratio: rate of a
 * trial relative to the base; 0: not a trial */
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

/* Restarts the search, because the trainer was busy with something else, so
 * neither measurement is valid. */
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

/* Waits until each stage has finished a task. The first tasks are not
 * representative, because caches and connections are cold. A stage in a branch
 * may get no items, and groups with a failed item are not timed: these are
 * waited for only as long as MAX_WAIT. */
static void
wait_for_tasks (SpdlTuner *self)
{
  const gboolean waited = self->base.elapsed >= MAX_WAIT;
  gboolean any = FALSE;

  for (guint i = 0; i < self->n_stages; i++) {
    any |= self->base.sums[i].tasks >= MIN_TASKS;
    if (self->base.sums[i].timed == 0 && !waited)
      return;
  }
  if (any || !waited)
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

/* A stage may be the bottleneck if at least the share BUSY of its workers is
 * busy. Its concurrency may be lowered if less than the share RATHER_IDLE is
 * busy. */
#define BUSY 0.75
#define RATHER_IDLE 0.7
/* Target share of busy workers for a stage that is raised along with another,
 * and margin for lowering an idle stage. */
#define FULLEST 0.9
#define SPARE 1.15
/* Limits for the gain that keeps a raise, which depends on the noise; and for
 * the loss that keeps a lowered concurrency, in one trial and in total. */
#define MIN_GAIN 0.04
#define MAX_GAIN 0.15
#define NO_LOSS 0.03
#define MAX_LOSS 0.05
/* A gain of at least this share of the added workers is proportional; a gain
 * below the second share may be noise. */
#define PROPORTIONAL 0.85
#define BY_CHANCE 0.3

/* Raising */

/* Returns the maximum useful concurrency. If tasks compute, more workers than
 * needed to keep all cores busy gain nothing. */
static guint
bound_of (const SpdlTuner *self, const SpdlTunerStage *stage)
{
  const double share = stage->computing;
  const double useful = share > 0 ? ceil (self->num_cores / share) : G_MAXUINT;

  return MAX (MIN (stage->max, useful), 1);
}

/* Returns TRUE if stage @i may be the bottleneck. If results leave in input
 * order, its workers may wait for slow tasks, so busy workers alone are not a
 * criterion. */
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

    /* A smaller raise, close to the limit, would not be measurable. */
    stage->candidate =
        may_limit (self, i) &&
        get_raised_concurrency (self, i, stage->n * self->growth) >=
            stage->n + MAX (stage->n / 10, 1);
    any |= stage->candidate;
  }
  return any;
}

/* search_raise(), search_fit() and search_lower() start a trial: raise the
 * bottleneck, lower idle stages to the busy workers, or lower one stage. They
 * return FALSE if there is nothing to try. */
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

/* Estimates the knee from a gain that is smaller than the added concurrency. A
 * small gain may be noise. */
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

/* The search_conclude functions end a trial. @ratio: rate relative to the base;
 * @noise: its standard error */
static void
search_conclude_raise (SpdlTuner *self, double ratio, double noise)
{
  const double enough = CLAMP (2 * noise, MIN_GAIN, MAX_GAIN);

  if (ratio - 1 >= enough) {
    learn_from_gain (self, ratio - 1);
    keep_concurrency (self);
    return;
  }
  /* If the raise was harmful, a smaller one may still help. */
  if (self->growth == SPDL_LEAST_GROWTH)
    self->growth = 0;
  else
    self->growth = 1 - ratio >= enough && self->growth == SPDL_GROWTH
                       ? SPDL_SMALL_GROWTH
                       : SPDL_LEAST_GROWTH;
  take_back (self, ratio);
}

/* Lowering */

/* Returns the number of workers needed for a load of @busy workers. */
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

/* Returns TRUE if the loss of rate is small enough to keep the trial. */
static gboolean
is_no_loss (SpdlTuner *self, double ratio, double noise)
{
  /* Allow for one task more or less if there are few. */
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
    /* Now a stage is the bottleneck although none was before, so something
     * else was slow for some time. Try to raise again. */
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

/* Returns a lower concurrency of stage @i to try, or the current one. If no
 * stage is the bottleneck, a stage keeps workers that are busy. */
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
