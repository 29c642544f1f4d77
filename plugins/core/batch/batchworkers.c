/* gst-spdl: work on a batch in the threads of the stage before
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchworkers.h"

#include "gst/spdl/stage/stage-private.h"

void
spdl_batch_workers_init (SpdlBatchWorkers *self, GstSpdlPlainStats *stats)
{
  spdl_guest_init (&self->guest);
  self->is_given = FALSE;
  self->stats = stats;
}

void
spdl_batch_workers_clear (SpdlBatchWorkers *self)
{
  spdl_guest_clear (&self->guest);
}

void
spdl_batch_workers_find (SpdlBatchWorkers *self, GstPad *sinkpad)
{
  spdl_guest_join (
      &self->guest, sinkpad ? gst_spdl_stage_find_pool (sinkpad) : NULL);
}

void
spdl_batch_workers_give (SpdlBatchWorkers *self, SpdlGuestWork *work)
{
  if (!self->guest.pool) {
    work->run (work);
    return;
  }
  self->is_given = TRUE;
  spdl_guest_give (&self->guest, work);
}

void
spdl_batch_workers_wait (SpdlBatchWorkers *self)
{
  GstSpdlPlainStats *stats = self->stats;
  guint64 since, took;

  if (!self->is_given)
    return;
  self->is_given = FALSE;
  since = spdl_meter_now (&stats->meter);
  took = spdl_guest_wait (&self->guest);
  spdl_mutex_lock (&stats->lock);
  stats->meter.interval.worker_time += took;
  stats->meter.interval.worker_wait += spdl_meter_now (&stats->meter) - since;
  spdl_mutex_unlock (&stats->lock);
}
