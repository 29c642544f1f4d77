/* gst-spdl: diagnosis of a loader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/buswatch.h"
#include "gst/spdl/loader/loader-private.h"

void
gst_spdl_loader_begin_counting (GstSpdlBusWatch *bus_watch)
{
  bus_watch->first_cpus =
      gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);
}

void
gst_spdl_loader_end_counting (GstSpdlBusWatch *bus_watch)
{
  GstStructure *last =
      gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);

  spdl_mutex_lock (&bus_watch->lock);
  if (!bus_watch->last_cpus)
    bus_watch->last_cpus = g_steal_pointer (&last);
  spdl_mutex_unlock (&bus_watch->lock);
  g_clear_pointer (&last, gst_structure_free);
}

/* Returns: (transfer full): the counters now, or those at the end of the run */
static GstStructure *
get_last_counters (GstSpdlBusWatch *bus_watch)
{
  GstStructure *last = NULL;

  spdl_mutex_lock (&bus_watch->lock);
  if (bus_watch->last_cpus)
    last = gst_structure_copy (bus_watch->last_cpus);
  spdl_mutex_unlock (&bus_watch->lock);
  return last ? last
              : gst_spdl_thread_times_get_cpu_stats (&bus_watch->threads);
}

/**
 * gst_spdl_loader_diagnose:
 * @loader: a loader
 *
 * Finds the bottleneck of the last run, since its start, like
 * gst_spdl_diagnose_with_cpus(). It can be called during a run and after it.
 * The CPU time of an item is that of the threads that load. In the process, the
 * threads of the trainer do not count.
 *
 * Returns: (transfer full): the diagnosis; %GST_SPDL_LIMIT_TOO_FEW if the
 * loader has not been started
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_loader_diagnose (GstSpdlLoader *loader)
{
  g_autoptr (GstSpdlBusWatch) bus_watch = NULL;
  GstStructure *last = NULL;
  GList *stats = NULL;
  GstSpdlDiagnosis *diagnosis;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (gst_spdl_loader_is_own_process (loader) &&
      (bus_watch = gst_spdl_loader_get_bus_watch (loader, NULL))) {
    last = get_last_counters (bus_watch);
    stats = gst_spdl_loader_parts_dup_stats (&loader->parts, TRUE);
  }
  diagnosis = gst_spdl_diagnose_with_cpus (
      stats, bus_watch ? bus_watch->first_cpus : NULL, last);
  g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
  g_clear_pointer (&last, gst_structure_free);
  return diagnosis;
}
