/* gst-spdl: an element's figures, read from its statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/stageview.h"

#include <string.h>

static guint64
number (const GstStructure *stats, const gchar *field)
{
  guint64 value = 0;

  gst_structure_get_uint64 (stats, field, &value);
  return value;
}

static guint
small_number (const GstStructure *stats, const gchar *field)
{
  guint value = 0;

  gst_structure_get_uint (stats, field, &value);
  return value;
}

static double
share (double part, double whole)
{
  return whole > 0 ? MIN (part / whole, 1.0) : 0;
}

/* A sink from which nobody pulls by signals knows only how long upstream was
 * kept waiting, a buffer at a time. */
static double
put_share (const GstStructure *stats, const GstSpdlStageView *view)
{
  const guint64 batches = number (stats, "num-batches");
  const guint64 buffers = batches > 0 ? batches : view->items;

  return share (
      number (stats, "ave-put-time") * (double) buffers, view->elapsed);
}

static void
read_gauge (GstSpdlStageView *view, const GstStructure *stats)
{
  if (gst_structure_get_double (stats, "occupancy-rate", &view->fullness)) {
    view->has_gauge = TRUE;
  } else if (gst_structure_has_field (stats, "ave-put-time")) {
    view->fullness = put_share (stats, view);
    view->has_gauge = TRUE;
  }
}

static void
read_tasks (GstSpdlStageView *view, const GstStructure *stats)
{
  const double working = (double) view->tasks * view->ave_time;

  view->concurrency = MAX (small_number (stats, "concurrency"), 1);
  view->busy = share (working, (double) view->elapsed * view->concurrency);
  view->has_push = gst_structure_get_double (stats, "push-rate", &view->push);
  view->computing = share (view->cpu_time, working);
}

void
gst_spdl_stage_view_read (GstSpdlStageView *view, const GstStructure *stats)
{
  memset (view, 0, sizeof *view);
  view->name = gst_structure_get_string (stats, "stage");
  if (!view->name)
    view->name = gst_structure_get_name (stats);
  view->has_figures =
      gst_structure_get_uint64 (stats, "elapsed", &view->elapsed);
  view->threads_property = gst_structure_get_string (stats, "threads-property");
  view->threads = small_number (stats, "threads");
  if (!view->has_figures)
    return;

  view->items = number (stats, "num-items");
  view->queue_size = small_number (stats, "queue-size");
  view->in_order = g_strcmp0 (gst_structure_get_string (stats, "output-order"),
                       "input") == 0;
  gst_structure_get_boolean (stats, "automatic", &view->automatic);
  gst_structure_get_boolean (stats, "held-back", &view->held_back);
  view->is_stage = gst_structure_get_uint64 (stats, "num-tasks", &view->tasks);
  view->ave_time = number (stats, "ave-time");
  view->p90_time = number (stats, "p90-time");
  view->p99_time = number (stats, "p99-time");
  view->cpu_time = number (stats, "cpu-time");
  view->batches = number (stats, "num-batches");
  view->cached = number (stats, "num-cached");
  view->get_time = number (stats, "ave-get-time");
  view->p50_step = number (stats, "p50-step-time");
  view->p99_step = number (stats, "p99-step-time");
  view->given_step = number (stats, "given-step-time");
  read_gauge (view, stats);
  if (view->is_stage)
    read_tasks (view, stats);
}
