/* gst-spdl-launch: statistics of a run per interval
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/intervals.h"

#include "tools/launch/run/process.h"

#define MAX_FRAMES 1024

struct _Intervals {
  GPtrArray *parts;
  GstSpdlThreadTimes *threads;
  GPtrArray *snapshots;
  guint64 max_batches;
  guint64 duration;
  gint64 began; /* monotonic time, us */
  guint64 first_cpu;
  GstStructure *first_cpus; /* nullable: from gst_spdl_dup_cpu_stats() */

  /* Values at the last snapshot. */
  gint64 last_time;
  guint64 last_cpu;
  GstStructure *last_cpus; /* nullable */
  guint64 last_items, last_batches;
};

Intervals *
intervals_new (GPtrArray *parts, GstSpdlThreadTimes *threads)
{
  Intervals *self = g_new0 (Intervals, 1);

  self->parts = parts;
  self->threads = threads;
  self->snapshots = g_ptr_array_new_with_free_func (snapshot_free);
  return self;
}

void
intervals_free (Intervals *self)
{
  g_ptr_array_unref (self->snapshots);
  g_clear_pointer (&self->first_cpus, gst_structure_free);
  g_clear_pointer (&self->last_cpus, gst_structure_free);
  g_free (self);
}

void
intervals_begin (Intervals *self, guint64 max_batches, guint64 duration)
{
  self->max_batches = max_batches;
  self->duration = duration;
  self->began = self->last_time = g_get_monotonic_time ();
  self->first_cpu = self->last_cpu = process_get_cpu_time ();
  self->first_cpus = gst_spdl_thread_times_get_cpu_stats (self->threads);
  self->last_cpus = gst_structure_copy (self->first_cpus);
}

static void
add_stages (Intervals *self, Snapshot *snapshot)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    const GstStructure *stats =
        snapshot->interval && part->interval ? part->interval : part->total;

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

static void
sum_up_failures (Intervals *self, Snapshot *snapshot)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);

    if (part->total)
      add_failures (snapshot, part->total);
  }
}

static void
count_output (Intervals *self, const PullerCounts *counts, Snapshot *snapshot)
{
  if (counts) {
    snapshot->items = counts->items;
    snapshot->batches = counts->batches;
    return;
  }
  for (guint i = self->parts->len; i > 0; i--) {
    const Part *part = g_ptr_array_index (self->parts, i - 1);

    if (!part->total)
      continue;
    snapshot->items = stats_get (part->total, "num-items");
    snapshot->batches = stats_get (part->total, "num-batches");
    return;
  }
}

/* Computes the progress from the limit that will be reached first: items,
 * batches or time. */
static void
find_progress (Intervals *self, Snapshot *snapshot)
{
  const guint64 expected = parts_count_expected (self->parts);
  const double items =
      snapshot->items + snapshot->failures + snapshot->filtered;

  snapshot->progress = -1;
  if (expected > 0)
    snapshot->progress = items / expected;
  if (self->max_batches > 0)
    snapshot->progress = MAX (
        snapshot->progress, snapshot->batches / (double) self->max_batches);
  if (self->duration > 0)
    snapshot->progress =
        MAX (snapshot->progress, snapshot->time * 1e9 / self->duration);
  snapshot->progress = MIN (snapshot->progress, 1);
}

static GstSpdlDiagnosis *
diagnose_interval (Intervals *self, gboolean interval, const GstStructure *cpus)
{
  GList *stats = parts_dup_stats (self->parts, interval);
  GstSpdlDiagnosis *diagnosis = gst_spdl_diagnose_with_cpus (
      stats, interval ? self->last_cpus : self->first_cpus, cpus);

  parts_free_stats (stats);
  return diagnosis;
}

/* Diagnoses the interval, or the whole run if the interval has too little
 * data. */
static void
find_limit (Intervals *self, Snapshot *snapshot, const GstStructure *cpus)
{
  snapshot->overall = diagnose_interval (self, FALSE, cpus);
  if (snapshot->interval)
    snapshot->diagnosis = diagnose_interval (self, TRUE, cpus);
  if (!snapshot->diagnosis ||
      gst_spdl_diagnosis_get_limit (snapshot->diagnosis) ==
          GST_SPDL_LIMIT_TOO_FEW) {
    g_clear_pointer (&snapshot->diagnosis, gst_spdl_diagnosis_unref);
    snapshot->diagnosis = gst_spdl_diagnosis_ref (snapshot->overall);
  }
}

static Snapshot *
take_snapshot (Intervals *self, const PullerCounts *counts, gboolean interval)
{
  Snapshot *snapshot = snapshot_new ();
  const gint64 now = g_get_monotonic_time ();
  const guint64 cpu = process_get_cpu_time ();
  const gint64 since = interval ? self->last_time : self->began;
  const guint64 used = cpu - (interval ? self->last_cpu : self->first_cpu);
  GstStructure *cpus = gst_spdl_thread_times_get_cpu_stats (self->threads);

  parts_take_totals (self->parts);
  snapshot->interval = interval;
  snapshot->time = (now - self->began) / 1e6;
  snapshot->elapsed = MAX (now - since, 1) / 1e6;
  snapshot->cores = used / 1e9 / snapshot->elapsed;
  snapshot->num_cores = gst_spdl_get_num_cores ();
  snapshot->memory =
      interval ? process_get_memory () : process_get_peak_memory ();
  count_output (self, counts, snapshot);
  sum_up_failures (self, snapshot);
  find_progress (self, snapshot);
  add_stages (self, snapshot);
  snapshot->item_rate =
      (snapshot->items - (interval ? self->last_items : 0)) / snapshot->elapsed;
  snapshot->batch_rate =
      (snapshot->batches - (interval ? self->last_batches : 0)) /
      snapshot->elapsed;
  find_limit (self, snapshot, cpus);
  self->last_time = now;
  self->last_cpu = cpu;
  gst_structure_free (self->last_cpus);
  self->last_cpus = cpus;
  self->last_items = snapshot->items;
  self->last_batches = snapshot->batches;
  return snapshot;
}

/* Removes every other snapshot, which limits the number of points in charts of
 * long runs. */
static void
thin_out (GPtrArray *snapshots)
{
  for (guint i = snapshots->len / 2; i > 0; i--)
    g_ptr_array_remove_index (snapshots, 2 * i - 1);
}

const Snapshot *
intervals_add (Intervals *self, const PullerCounts *counts)
{
  Snapshot *snapshot = take_snapshot (self, counts, TRUE);

  if (self->snapshots->len >= MAX_FRAMES)
    thin_out (self->snapshots);
  g_ptr_array_add (self->snapshots, snapshot);
  return snapshot;
}

Snapshot *
intervals_sum_up (Intervals *self, const PullerCounts *counts)
{
  return take_snapshot (self, counts, FALSE);
}

Snapshot *
intervals_dup_totals (Intervals *self, const Snapshot *interval)
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

GPtrArray *
intervals_get_snapshots (Intervals *self)
{
  return self->snapshots;
}

double
intervals_get_steady_rate (
    Intervals *self, guint64 warm_up, const Snapshot *end)
{
  for (guint i = 0; i < self->snapshots->len; i++) {
    const Snapshot *snapshot = g_ptr_array_index (self->snapshots, i);

    if (snapshot->time >= warm_up / 1e9 && end->time > snapshot->time)
      return (end->items - snapshot->items) / (end->time - snapshot->time);
  }
  return end->item_rate;
}
