/* gst-spdl: loader functions for a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Gives stages their concurrency where they were given none. */
SPDL_PRIVATE_API
void gst_spdl_worker_tune (GstPipeline *pipeline);

/* Gives each source the class names. */
SPDL_PRIVATE_API
void gst_spdl_worker_set_classes (
    GstPipeline *pipeline, const gchar *const *classes);

/* Returns: (transfer full) (nullable): the class names of the sources. Where
 * these differ there are none, of which a warning is posted. */
SPDL_PRIVATE_API
GStrv gst_spdl_worker_dup_classes (GstPipeline *pipeline);

/* Returns: (transfer full) (nullable): the `stage-stats` of all elements,
 * sources first */
SPDL_PRIVATE_API
GList *gst_spdl_worker_dup_stats (GstPipeline *pipeline);

G_END_DECLS
