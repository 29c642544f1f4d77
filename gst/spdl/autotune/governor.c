/* gst-spdl: CPU budget: credit account that limits running tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/autotune/governor.h"

#include <math.h>

/* Limits of the account, in seconds of the allowed CPU time: */
#define DEAD_BAND 0.02  /* around 0, `extra` does not change */
#define MOST_CREDIT 0.1 /* maximum credit; further savings are lost */
#define MOST_DEBT 5.0   /* maximum debt; running tasks cannot be stopped */
#define BEGIN_DEBT 0.05 /* a limit is set */
#define LOWER_DEBT 0.3  /* the limit is lowered */
#define OVERDRAWN_DEBT 1.0
/* Time in seconds before the limit changes. */
#define PATIENCE_DOWN 0.3
#define PATIENCE_UP 1.0
/* Time constant of the averages, in seconds. */
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

/* Returns the initial limit: the number of workers that use the allowed CPU
 * time, at most @n_workers - 1. */
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
