/* gst-spdl-launch: a run's figures, lap by lap
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/laps.h"

#include "tools/launch/run/process.h"

#define MAX_FRAMES 1024

struct _Laps {
  GPtrArray *parts;
  GPtrArray *frames;
  guint64 max_batches;
  guint64 duration;
  gint64 began; /* us */
  guint64 first_cpu;
  GstStructure *first_cpus; /* from gst_spdl_get_cpu_stats(); nullable */

  /* What was so at the last frame. */
  gint64 last_time;
  guint64 last_cpu;
  GstStructure *last_cpus; /* nullable */
  guint64 last_items, last_batches;
};

Laps *
laps_new (GPtrArray *parts)
{
  Laps *self = g_new0 (Laps, 1);

  self->parts = parts;
  self->frames = g_ptr_array_new_with_free_func (frame_free);
  return self;
}

void
laps_free (Laps *self)
{
  g_ptr_array_unref (self->frames);
  g_clear_pointer (&self->first_cpus, gst_structure_free);
  g_clear_pointer (&self->last_cpus, gst_structure_free);
  g_free (self);
}

void
laps_begin (Laps *self, guint64 max_batches, guint64 duration)
{
  self->max_batches = max_batches;
  self->duration = duration;
  self->began = self->last_time = g_get_monotonic_time ();
  self->first_cpu = self->last_cpu = process_get_cpu_time ();
  self->first_cpus = gst_spdl_get_cpu_stats ();
  self->last_cpus = gst_structure_copy (self->first_cpus);
}

static void
add_stages (Laps *self, Frame *frame)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);
    const GstStructure *stats =
        frame->lap && part->lap ? part->lap : part->total;

    if (stats)
      g_ptr_array_add (frame->stages, gst_structure_copy (stats));
  }
}

static void
sum_up_failures (Laps *self, Frame *frame)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = g_ptr_array_index (self->parts, i);

    if (!part->total)
      continue;
    frame->failures += stats_get (part->total, "num-failures");
    frame->filtered += stats_get (part->total, "num-filtered");
  }
}

static void
count_output (Laps *self, const PullerCounts *counts, Frame *frame)
{
  if (counts) {
    frame->items = counts->items;
    frame->batches = counts->batches;
    return;
  }
  for (guint i = self->parts->len; i > 0; i--) {
    const Part *part = g_ptr_array_index (self->parts, i - 1);

    if (!part->total)
      continue;
    frame->items = stats_get (part->total, "num-items");
    frame->batches = stats_get (part->total, "num-batches");
    return;
  }
}

/* By what comes to its end first: the items, the batches or the time. */
static void
find_progress (Laps *self, Frame *frame)
{
  const guint64 expected = parts_count_expected (self->parts);
  const double items = frame->items + frame->failures + frame->filtered;

  frame->progress = -1;
  if (expected > 0)
    frame->progress = items / expected;
  if (self->max_batches > 0)
    frame->progress =
        MAX (frame->progress, frame->batches / (double) self->max_batches);
  if (self->duration > 0)
    frame->progress = MAX (frame->progress, frame->time * 1e9 / self->duration);
  frame->progress = MIN (frame->progress, 1);
}

static GstSpdlDiagnosis *
diagnose (Laps *self, gboolean lap, const GstStructure *cpus)
{
  GList *stats = parts_dup_stats (self->parts, lap);
  GstSpdlDiagnosis *diagnosis = gst_spdl_diagnose_with_cpus (
      stats, lap ? self->last_cpus : self->first_cpus, cpus);

  parts_free_stats (stats);
  return diagnosis;
}

/* All of the run may say more than a lap does. */
static void
find_limit (Laps *self, Frame *frame, const GstStructure *cpus)
{
  frame->diagnosis = diagnose (self, frame->lap, cpus);
  if (!frame->lap ||
      gst_spdl_diagnosis_get_limit (frame->diagnosis) != GST_SPDL_LIMIT_TOO_FEW)
    return;
  gst_spdl_diagnosis_unref (frame->diagnosis);
  frame->diagnosis = diagnose (self, FALSE, cpus);
}

static Frame *
take (Laps *self, const PullerCounts *counts, gboolean lap)
{
  Frame *frame = frame_new ();
  const gint64 now = g_get_monotonic_time ();
  const guint64 cpu = process_get_cpu_time ();
  const gint64 since = lap ? self->last_time : self->began;
  const guint64 used = cpu - (lap ? self->last_cpu : self->first_cpu);
  GstStructure *cpus = gst_spdl_get_cpu_stats ();

  parts_take_totals (self->parts);
  frame->lap = lap;
  frame->time = (now - self->began) / 1e6;
  frame->elapsed = MAX (now - since, 1) / 1e6;
  frame->cores = used / 1e9 / frame->elapsed;
  frame->num_cores = gst_spdl_get_num_cores ();
  frame->memory = lap ? process_get_memory () : process_get_peak_memory ();
  count_output (self, counts, frame);
  sum_up_failures (self, frame);
  find_progress (self, frame);
  add_stages (self, frame);
  frame->item_rate =
      (frame->items - (lap ? self->last_items : 0)) / frame->elapsed;
  frame->batch_rate =
      (frame->batches - (lap ? self->last_batches : 0)) / frame->elapsed;
  find_limit (self, frame, cpus);
  self->last_time = now;
  self->last_cpu = cpu;
  gst_structure_free (self->last_cpus);
  self->last_cpus = cpus;
  self->last_items = frame->items;
  self->last_batches = frame->batches;
  return frame;
}

/* Leaves out every other frame: a long run is drawn with as many points. */
static void
thin_out (GPtrArray *frames)
{
  for (guint i = frames->len / 2; i > 0; i--)
    g_ptr_array_remove_index (frames, 2 * i - 1);
}

const Frame *
laps_add (Laps *self, const PullerCounts *counts)
{
  Frame *frame = take (self, counts, TRUE);

  if (self->frames->len >= MAX_FRAMES)
    thin_out (self->frames);
  g_ptr_array_add (self->frames, frame);
  return frame;
}

Frame *
laps_sum_up (Laps *self, const PullerCounts *counts)
{
  return take (self, counts, FALSE);
}

Frame *
laps_dup_totals (Laps *self, const Frame *lap)
{
  Frame *frame = frame_new ();
  GPtrArray *stages = frame->stages;

  *frame = *lap;
  frame->lap = FALSE;
  frame->stages = stages;
  gst_spdl_diagnosis_ref (frame->diagnosis);
  add_stages (self, frame);
  return frame;
}

GPtrArray *
laps_get_frames (Laps *self)
{
  return self->frames;
}

double
laps_get_steady_rate (Laps *self, guint64 warm_up, const Frame *end)
{
  for (guint i = 0; i < self->frames->len; i++) {
    const Frame *frame = g_ptr_array_index (self->frames, i);

    if (frame->time >= warm_up / 1e9 && end->time > frame->time)
      return (end->items - frame->items) / (end->time - frame->time);
  }
  return end->item_rate;
}
