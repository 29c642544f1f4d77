/* gst-spdl: work of another element in the threads of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/pool.h"
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* A guest has no threads. It gives work to those of a pool, which do it before
 * the tasks of the pool's owner, within the owner's concurrency. One thread
 * calls the functions of a guest. */

typedef struct _SpdlGuestWork SpdlGuestWork;
struct _SpdlGuestWork {
  /* Does the work, without a lock. Must not block. */
  void (*run) (SpdlGuestWork *self);
  SpdlGuestWork *next;
};

typedef struct {
  SpdlPoolClient client;
  SpdlPool *pool; /* nullable */
  /* guarded by the pool's lock: */
  SpdlGuestWork *first, *last; /* that no thread has taken */
  guint n_left;                /* pieces of work that are not done */
  guint n_taken;               /* since the start; may overflow */
  guint64 work_time;           /* of the pool's threads, in ns */
  SpdlCond done;
} SpdlGuest;

void spdl_guest_init (SpdlGuest *self);

/* Leaves the pool. */
void spdl_guest_clear (SpdlGuest *self);

/* Waits for all work, and continues with @pool. @pool: (transfer full)
 * (nullable) */
void spdl_guest_join (SpdlGuest *self, SpdlPool *pool);

/* Gives @work to the pool, which must be there. @work must be kept until
 * spdl_guest_wait() has returned. */
void spdl_guest_give (SpdlGuest *self, SpdlGuestWork *work);

/* Waits until all work is done, and returns the time in ns that the pool's
 * threads have spent on it since the last call. If the pool's threads take none
 * for some milliseconds, because their tasks are long or they have ended, this
 * thread does it. */
guint64 spdl_guest_wait (SpdlGuest *self);

SPDL_END_PRIVATE_API
G_END_DECLS
