/* gst-spdl: threads that let others have their core
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/batchscheduling.h"

#include "gst/spdl/engine/compat.h"

static __thread gboolean is_ours;
static __thread gboolean is_loading;

gboolean
spdl_is_loading_thread (void)
{
  return is_loading;
}

void
spdl_set_patient (gboolean patient)
{
  is_loading = patient;
  /* Any other policy than the usual one was somebody's wish. */
  if ((patient || is_ours) && spdl_compat_set_batch_policy (patient))
    is_ours = patient;
}
