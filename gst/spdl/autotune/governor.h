/* gst-spdl: limits the tasks of a pipeline to a share of the cores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Keeps an account: what the budget grants comes in, the CPU time that was used
 * goes out. A number of workers may always run, and one more while there is
 * credit: so a budget holds that is less than a worker, or between two numbers.
 * The number follows slowly, only when the one alone no longer makes up for
 * what is used or left. Where all is within the budget there is no limit.
 *
 * Like the tuner, it is a function of what it is told. */

#define SPDL_GOVERNOR_NO_LIMIT G_MAXUINT

typedef struct {
  double allowed; /* cores */
  guint limit;    /* workers that may always run, or NO_LIMIT */
  gboolean extra; /* and one more, for now */
  double credit;  /* CPU time, in seconds */
  double used;    /* cores, lately */
  double running; /* workers, lately */
  double pinned;  /* for so long, in seconds, the extra made no difference */
} SpdlGovernor;

/* @budget: a share of @num_cores */
void spdl_governor_init (SpdlGovernor *self, double budget, double num_cores);

/* After @elapsed ns, of which @cpu_time was used. @running: workers of the
 * stage that is held back which were in tasks; @n_workers: that it has. Returns
 * whether `limit` is another one. */
gboolean spdl_governor_end_interval (SpdlGovernor *self, guint64 elapsed,
    guint64 cpu_time, double running, guint n_workers);

/* How many workers may run, for now. */
guint spdl_governor_get_workers (const SpdlGovernor *self);

/* Whether even that none runs does not suffice: others use the CPU time. */
gboolean spdl_governor_is_overdrawn (const SpdlGovernor *self);

G_END_DECLS
