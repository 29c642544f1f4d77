/* gst-spdl: threads that let others have their core
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlpatience.h"

#include <sched.h>

static __thread gboolean is_ours;

static void
set_policy (gint policy)
{
  const struct sched_param param = { 0 };

  sched_setscheduler (0, policy, &param);
}

void
spdl_set_patient (gboolean patient)
{
  /* Any other policy than the usual one was somebody's wish. */
  if (patient && sched_getscheduler (0) == SCHED_OTHER)
    set_policy (SCHED_BATCH);
  else if (!patient && is_ours && sched_getscheduler (0) == SCHED_BATCH)
    set_policy (SCHED_OTHER);
  else
    return;
  is_ours = patient;
}
