/* gst-spdl: limits the tasks of a pipeline to a share of the cores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/governor.h"

#include <math.h>

/* In seconds of what is allowed: */
#define DEAD_BAND 0.02  /* around nothing: the extra stays as it is */
#define MOST_CREDIT 0.1 /* what was left earlier is not used up later */
#define MOST_DEBT 5.0   /* tasks that run cannot be held back */
#define BEGIN_DEBT 0.05 /* a limit begins */
#define LOWER_DEBT 0.3  /* it goes down */
#define OVERDRAWN_DEBT 1.0
/* How long, in seconds, before the number changes. */
#define PATIENCE_DOWN 0.3
#define PATIENCE_UP 1.0
/* Of the averages, in seconds. */
#define MEMORY 0.5

void
spdl_governor_init (SpdlGovernor *self, double budget, double num_cores)
{
  *self = (SpdlGovernor){
    .allowed = budget * num_cores,
    .limit = SPDL_GOVERNOR_NO_LIMIT,
    .extra = TRUE,
  };
}

guint
spdl_governor_get_workers (const SpdlGovernor *self)
{
  if (self->limit == SPDL_GOVERNOR_NO_LIMIT)
    return self->limit;
  return self->limit + (self->extra ? 1 : 0);
}

gboolean
spdl_governor_is_overdrawn (const SpdlGovernor *self)
{
  return self->credit < -OVERDRAWN_DEBT * self->allowed;
}

static void
keep_account (
    SpdlGovernor *self, double elapsed, double cpu_time, double running)
{
  const double weight = 1 - exp (-elapsed / MEMORY);

  self->credit = CLAMP (self->credit + self->allowed * elapsed - cpu_time,
      -MOST_DEBT * self->allowed, MOST_CREDIT * self->allowed);
  self->used += (cpu_time / elapsed - self->used) * weight;
  self->running += (running - self->running) * weight;
}

/* As many as use what is allowed, at most one less than there are. */
static guint
begin_limit (const SpdlGovernor *self, guint n_workers)
{
  const double share = self->used > 0 ? self->allowed / self->used : 1;
  const double workers = MIN (self->running, n_workers) * share;

  return MIN ((guint) floor (workers), MAX (n_workers, 1) - 1);
}

static gboolean
lower_limit (SpdlGovernor *self)
{
  const double share = MIN (self->allowed / MAX (self->used, 1e-6), 1);

  self->pinned = 0;
  if (self->limit == 0)
    return FALSE;
  self->limit = MIN (self->limit - 1, (guint) floor (self->limit * share));
  return TRUE;
}

static gboolean
raise_limit (SpdlGovernor *self, guint n_workers)
{
  self->pinned = 0;
  self->limit++;
  if (self->limit >= n_workers)
    self->limit = SPDL_GOVERNOR_NO_LIMIT;
  return TRUE;
}

static gboolean
adjust_limit (SpdlGovernor *self, double elapsed, guint n_workers)
{
  const double credit = self->credit / self->allowed;

  if (credit > DEAD_BAND)
    self->extra = TRUE;
  else if (credit < -DEAD_BAND)
    self->extra = FALSE;

  if (credit < -LOWER_DEBT && self->used > self->allowed) {
    self->pinned = MIN (self->pinned, 0) - elapsed;
    return self->pinned <= -PATIENCE_DOWN ? lower_limit (self) : FALSE;
  }
  if (credit >= MOST_CREDIT) {
    self->pinned = MAX (self->pinned, 0) + elapsed;
    return self->pinned >= PATIENCE_UP ? raise_limit (self, n_workers) : FALSE;
  }
  self->pinned = 0;
  return FALSE;
}

gboolean
spdl_governor_end_interval (SpdlGovernor *self, guint64 elapsed,
    guint64 cpu_time, double running, guint n_workers)
{
  keep_account (self, elapsed / 1e9, cpu_time / 1e9, running);
  if (self->limit != SPDL_GOVERNOR_NO_LIMIT)
    return adjust_limit (self, elapsed / 1e9, n_workers);
  if (self->credit >= -BEGIN_DEBT * self->allowed || n_workers == 0)
    return FALSE;
  self->limit = begin_limit (self, n_workers);
  self->extra = FALSE;
  self->pinned = 0;
  return TRUE;
}
