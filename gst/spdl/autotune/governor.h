/* gst-spdl: CPU budget: credit account that limits running tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Keeps an account to which the budget is credited and from which the used CPU
 * time is debited. `limit` workers may always run, and one more while the
 * account is positive. This allows budgets below one worker, or between two
 * numbers of workers. The limit changes slowly, and only if the additional
 * worker cannot balance the account any more. While usage is within the budget,
 * there is no limit.
 *
 * Like the tuner, it depends only on its arguments, and has no clock. */

#define SPDL_GOVERNOR_NO_LIMIT G_MAXUINT

typedef struct {
  double allowed; /* cores */
  guint limit;    /* workers that may always run, or NO_LIMIT */
  gboolean extra; /* one more worker may run now */
  double credit;  /* CPU time, in seconds */
  double used;    /* recent average, in cores */
  double running; /* recent average, in workers */
  double pinned;  /* time in seconds for which `extra` could not balance the
                     account; negative: debt */
} SpdlGovernor;

/* Initializes the account. @budget is a share of @num_cores. */
void spdl_governor_init (SpdlGovernor *self, double budget, double num_cores);

/* Updates the account after @elapsed ns, in which @cpu_time ns were used.
 *
 * @running: number of workers of the throttled stage that were in tasks
 * @n_workers: number of workers of that stage
 *
 * Returns TRUE if `limit` has changed. */
gboolean spdl_governor_end_interval (SpdlGovernor *self, guint64 elapsed,
    guint64 cpu_time, double running, guint n_workers);

/* Returns the number of workers that may run now. */
guint spdl_governor_get_workers (const SpdlGovernor *self);

/* Returns TRUE if pausing all workers of the stage does not suffice, because
 * other stages use the CPU time. */
gboolean spdl_governor_is_overdrawn (const SpdlGovernor *self);

G_END_DECLS
