/* gst-spdl: loader functions for a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/workerloader.h"

#include "gst/spdl/loader/loader-private.h"

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

void
gst_spdl_worker_set_classes (GstPipeline *pipeline, const gchar *const *classes)
{
  GstSpdlLoaderParts parts = { .pipeline = pipeline };

  gst_spdl_loader_parts_find_sources (&parts);
  gst_spdl_loader_parts_set_classes (&parts, classes);
  g_ptr_array_unref (parts.sources);
}

GStrv
gst_spdl_worker_dup_classes (GstPipeline *pipeline)
{
  GstSpdlLoaderParts parts = { .pipeline = pipeline };
  g_autoptr (GError) error = NULL;
  GStrv classes;

  gst_spdl_loader_parts_find_sources (&parts);
  if (!gst_spdl_loader_parts_dup_classes (&parts, &classes, &error))
    GST_ELEMENT_WARNING (
        pipeline, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  g_ptr_array_unref (parts.sources);
  return classes;
}
