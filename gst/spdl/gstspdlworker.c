/* gst-spdl: what a worker process does as a loader does
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdlworker.h"

#include "gstspdlloader-private.h"

void
gst_spdl_worker_tune (GstPipeline *pipeline)
{
  GstSpdlLoaderParts parts = { .pipeline = pipeline };

  gst_spdl_loader_parts_tune (&parts);
}

GList *
gst_spdl_worker_dup_stats (GstPipeline *pipeline)
{
  const GstSpdlLoaderParts parts = { .pipeline = pipeline };

  return gst_spdl_loader_parts_dup_stats (&parts);
}
