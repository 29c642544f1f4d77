/* gst-spdl: statistics over several intervals, with confidence
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/window.h"

#include <math.h>
#include <string.h>

#define MAX_BLOCK 0.4e9

void
spdl_window_init (SpdlWindow *self, guint n_stages)
{
  g_assert (n_stages <= SPDL_MAX_TUNED);

  memset (self, 0, sizeof *self);
  self->n_stages = n_stages;
}

static void
end_block (SpdlWindow *self)
{
  const double rate = self->block_items * 1e9 / self->block_elapsed;
  const double before = rate - self->mean;

  self->n_blocks++;
  self->mean += before / self->n_blocks;
  self->squares += before * (rate - self->mean);
  self->block_elapsed = self->block_items = 0;
}

void
spdl_window_add (
    SpdlWindow *self, const SpdlInterval *intervals, guint64 elapsed)
{
  self->elapsed += elapsed;
  self->block_elapsed += elapsed;
  for (guint i = 0; i < self->n_stages; i++) {
    SpdlInterval *sum = &self->sums[i];

    sum->items += intervals[i].items;
    sum->tasks += intervals[i].tasks;
    sum->timed += intervals[i].timed;
    sum->task_time += intervals[i].task_time;
    sum->cpu_time += intervals[i].cpu_time;
    sum->occupied += intervals[i].occupied;
    sum->pushing += intervals[i].pushing;
    self->block_items += intervals[i].items;
  }
  if (self->block_elapsed > 0 &&
      self->block_elapsed >= spdl_window_get_block (self))
    end_block (self);
}

static double
per_second (const SpdlWindow *self, guint64 n)
{
  return self->elapsed > 0 ? n * 1e9 / self->elapsed : 0;
}

static double
share_of_time (const SpdlWindow *self, guint64 time)
{
  return self->elapsed > 0 ? MIN (time / (double) self->elapsed, 1) : 0;
}

double
spdl_window_get_rate (const SpdlWindow *self)
{
  guint64 items = 0;

  for (guint i = 0; i < self->n_stages; i++)
    items += self->sums[i].items;
  return per_second (self, items);
}

double
spdl_window_get_noise (const SpdlWindow *self)
{
  if (self->n_blocks < 2 || self->mean <= 0)
    return 1;
  return sqrt (self->squares / (self->n_blocks - 1) / self->n_blocks) /
         self->mean;
}

double
spdl_window_get_item_rate (const SpdlWindow *self, guint stage)
{
  return per_second (self, self->sums[stage].items);
}

double
spdl_window_get_task_time (const SpdlWindow *self, guint stage)
{
  const SpdlInterval *sum = &self->sums[stage];

  return sum->timed > 0 ? sum->task_time / (double) sum->timed : 0;
}

double
spdl_window_get_longest_task (const SpdlWindow *self)
{
  double longest = 0;

  for (guint i = 0; i < self->n_stages; i++)
    longest = MAX (longest, spdl_window_get_task_time (self, i));
  return longest;
}

double
spdl_window_get_block (const SpdlWindow *self)
{
  return MIN (2 * spdl_window_get_longest_task (self), MAX_BLOCK);
}

double
spdl_window_get_busy (const SpdlWindow *self, guint stage)
{
  return per_second (self, self->sums[stage].tasks) *
         spdl_window_get_task_time (self, stage) / 1e9;
}

double
spdl_window_get_computing (const SpdlWindow *self, guint stage)
{
  const double working =
      self->sums[stage].tasks * spdl_window_get_task_time (self, stage);

  return working > 0 ? MIN (self->sums[stage].cpu_time / working, 1) : 0;
}

double
spdl_window_get_occupancy (const SpdlWindow *self, guint stage)
{
  return share_of_time (self, self->sums[stage].occupied);
}

double
spdl_window_get_pushing (const SpdlWindow *self, guint stage)
{
  return share_of_time (self, self->sums[stage].pushing);
}

guint64
spdl_window_get_tasks (const SpdlWindow *self)
{
  guint64 most = 0;

  for (guint i = 0; i < self->n_stages; i++)
    most = MAX (most, self->sums[i].tasks);
  return most;
}
