/* gst-spdl-launch: statistics of a session
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/analysis.h"
#include "gst/spdl/loader/loader-private.h"
#include "tools/launch/run/process.h"
#include "tools/launch/run/session.h"

static void
add_stages (Session *self, Snapshot *snapshot)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    const GstStructure *stats = part_get_stats (part, snapshot->interval);

    if (stats)
      g_ptr_array_add (snapshot->stages, gst_structure_copy (stats));
  }
}

/* @stats: of an element; those of a worker process contain its elements */
static void
add_failures (Snapshot *snapshot, const GstStructure *stats)
{
  const GValue *stages = gst_structure_get_value (stats, "stages");
  const guint n = stages ? gst_value_array_get_size (stages) : 0;

  snapshot->failures += stats_get (stats, "num-failures");
  snapshot->filtered += stats_get (stats, "num-filtered");
  for (guint i = 0; i < n; i++)
    add_failures (
        snapshot, g_value_get_boxed (gst_value_array_get_value (stages, i)));
}

/* Counts failures, and the output: pulled batches, or without a sink to pull
 * from, what the last gst-spdl element got. */
static void
add_counts (Session *self, Snapshot *snapshot)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);

    if (!part->total)
      continue;
    add_failures (snapshot, part->total);
    snapshot->items = stats_get (part->total, "num-items");
    snapshot->batches = stats_get (part->total, "num-batches");
  }
  if (!self->sink)
    return;
  g_mutex_lock (&self->lock);
  snapshot->items = self->counts.items;
  snapshot->batches = self->counts.batches;
  g_mutex_unlock (&self->lock);
}

/* Computes the progress from the limit that will be reached first: items,
 * batches or time. */
static void
find_progress (Session *self, Snapshot *snapshot)
{
  const guint64 expected = parts_count_expected (self->parts);
  const double items =
      snapshot->items + snapshot->failures + snapshot->filtered;

  snapshot->progress = -1;
  if (expected > 0)
    snapshot->progress = items / expected;
  if (self->limits.max_batches > 0)
    snapshot->progress = MAX (snapshot->progress,
        snapshot->batches / (double) self->limits.max_batches);
  if (self->limits.duration > 0)
    snapshot->progress =
        MAX (snapshot->progress, snapshot->time * 1e9 / self->limits.duration);
  snapshot->progress = MIN (snapshot->progress, 1);
}

static GstSpdlDiagnosis *
diagnose (Session *self, gboolean interval, const GstStructure *cpus)
{
  GList *all = NULL;
  GstSpdlDiagnosis *diagnosis;

  for (guint i = self->parts->len; i > 0; i--) {
    const Part *part = g_ptr_array_index (self->parts, i - 1);
    const GstStructure *known = part_get_stats (part, interval);
    GstStructure *stats = known             ? gst_structure_copy (known)
                          : part->has_stats ? NULL
                                            : gst_spdl_make_foreign_stats (
                                                  part->element, part->name);

    if (!stats)
      continue;
    if (part->given_step > 0)
      gst_structure_set (
          stats, "given-step-time", G_TYPE_UINT64, part->given_step, NULL);
    all = g_list_prepend (all, stats);
  }
  diagnosis = gst_spdl_diagnose_with_cpus (
      all, interval ? self->last.cpus : self->first.cpus, cpus);
  g_list_free_full (all, (GDestroyNotify) gst_structure_free);
  return diagnosis;
}

/* Diagnoses the interval, or the whole run if the interval has too little
 * data. */
static void
find_limit (Session *self, Snapshot *snapshot, const GstStructure *cpus)
{
  snapshot->overall = diagnose (self, FALSE, cpus);
  if (snapshot->interval)
    snapshot->diagnosis = diagnose (self, TRUE, cpus);
  if (!snapshot->diagnosis ||
      gst_spdl_diagnosis_get_limit (snapshot->diagnosis) ==
          GST_SPDL_LIMIT_TOO_FEW) {
    g_clear_pointer (&snapshot->diagnosis, gst_spdl_diagnosis_unref);
    snapshot->diagnosis = gst_spdl_diagnosis_ref (snapshot->overall);
  }
}

Snapshot *
session_take_snapshot (Session *self, gboolean interval)
{
  const Mark *since = interval ? &self->last : &self->first;
  Mark now = { g_get_monotonic_time (),
    gst_spdl_loader_dup_cpu_stats (self->loader) };
  Snapshot *snapshot = snapshot_new ();

  parts_take_totals (self->parts);
  snapshot->interval = interval;
  snapshot->time = (now.time - self->first.time) / 1e6;
  snapshot->elapsed = MAX (now.time - since->time, 1) / 1e6;
  snapshot->cores = (stats_get_number (now.cpus, "process-time") -
                        stats_get_number (since->cpus, "process-time")) /
                    snapshot->elapsed;
  snapshot->num_cores = gst_spdl_get_num_cores ();
  snapshot->memory =
      interval ? process_get_memory () : process_get_peak_memory ();
  add_counts (self, snapshot);
  find_progress (self, snapshot);
  add_stages (self, snapshot);
  snapshot->item_rate = (snapshot->items - since->items) / snapshot->elapsed;
  snapshot->batch_rate =
      (snapshot->batches - since->batches) / snapshot->elapsed;
  find_limit (self, snapshot, now.cpus);
  now.items = snapshot->items;
  now.batches = snapshot->batches;
  gst_structure_free (self->last.cpus);
  self->last = now;
  return snapshot;
}

Snapshot *
session_dup_totals (Session *self, const Snapshot *interval)
{
  Snapshot *snapshot = snapshot_new ();
  GPtrArray *stages = snapshot->stages;

  *snapshot = *interval;
  snapshot->interval = FALSE;
  snapshot->stages = stages;
  gst_spdl_diagnosis_ref (snapshot->diagnosis);
  gst_spdl_diagnosis_ref (snapshot->overall);
  add_stages (self, snapshot);
  return snapshot;
}
