/* gst-spdl: work on a batch in the threads of the stage before
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/guest.h"
#include "gst/spdl/stage/plain.h"

G_BEGIN_DECLS

typedef struct {
  SpdlGuest guest; /* without a pool, the caller does all work */
  gboolean is_given;
  GstSpdlPlainStats *stats; /* not owned */
} SpdlBatchWorkers;

void spdl_batch_workers_init (SpdlBatchWorkers *self, GstSpdlPlainStats *stats);
void spdl_batch_workers_clear (SpdlBatchWorkers *self);

/* Continues with the workers of the nearest stage upstream of @sinkpad, if
 * there is one. @sinkpad: (nullable) */
void spdl_batch_workers_find (SpdlBatchWorkers *self, GstPad *sinkpad);

static inline gboolean
spdl_batch_workers_are_there (const SpdlBatchWorkers *self)
{
  return self->guest.pool != NULL;
}

/* Has a worker do @work, which must be kept until spdl_batch_workers_wait();
 * without workers it is done here. */
void spdl_batch_workers_give (SpdlBatchWorkers *self, SpdlGuestWork *work);

/* Waits until all work is done, and counts the time. */
void spdl_batch_workers_wait (SpdlBatchWorkers *self);

G_END_DECLS
