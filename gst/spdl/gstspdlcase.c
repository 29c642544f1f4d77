/* gst-spdl: a pipeline's figures, as a diagnosis looks at them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdlcase.h"

#define CORES_BUSY 0.9
/* A step is slow from this multiple of what was given on, and by so much. */
#define SLOW_STEP 1.2
#define MIN_SLOWNESS (200 * GST_USECOND)
#define MIN_STEPS 10

static void
add_up (GstSpdlCase *self, guint64 cpu_time)
{
  guint64 of_stages = 0;

  for (guint i = 0; i < self->n_views; i++) {
    of_stages += self->views[i].cpu_time;
    self->elapsed = MAX (self->elapsed, self->views[i].elapsed);
  }
  if (cpu_time == 0)
    cpu_time = of_stages;
  if (self->elapsed > 0)
    self->busy_cores = cpu_time / (double) self->elapsed;
}

static void
find_busiest (GstSpdlCase *self)
{
  for (guint i = 0; i < self->n_views; i++) {
    const GstSpdlStageView *view = &self->views[i];

    if (!view->is_stage)
      continue;
    if (!self->top || view->busy > self->top->busy) {
      self->second = self->top;
      self->top = view;
    } else if (!self->second || view->busy > self->second->busy) {
      self->second = view;
    }
  }
}

void
gst_spdl_case_init (
    GstSpdlCase *self, GList *stages, guint num_cores, guint64 cpu_time)
{
  *self = (GstSpdlCase){ .num_cores = num_cores };
  self->n_views = g_list_length (stages);
  self->views = g_new0 (GstSpdlStageView, self->n_views);
  for (guint i = 0; i < self->n_views; i++, stages = stages->next)
    gst_spdl_stage_view_read (&self->views[i], stages->data);
  add_up (self, cpu_time);
  find_busiest (self);
}

void
gst_spdl_case_clear (GstSpdlCase *self)
{
  g_clear_pointer (&self->views, g_free);
}

gboolean
gst_spdl_case_cores_are_busy (const GstSpdlCase *self)
{
  return self->num_cores > 0 &&
         self->busy_cores >= CORES_BUSY * self->num_cores;
}

const GstSpdlStageView *
gst_spdl_case_find_most_computing (const GstSpdlCase *self)
{
  const GstSpdlStageView *found = NULL;

  for (guint i = 0; i < self->n_views; i++)
    if (self->views[i].is_stage &&
        (!found || self->views[i].cpu_time > found->cpu_time))
      found = &self->views[i];
  return found;
}

guint
gst_spdl_case_find_gauge (const GstSpdlCase *self, guint from)
{
  while (from < self->n_views && !self->views[from].has_gauge)
    from++;
  return from;
}

guint
gst_spdl_case_find_last_full (const GstSpdlCase *self)
{
  guint found = self->n_views;

  for (guint i = gst_spdl_case_find_gauge (self, 0); i < self->n_views;
       i = gst_spdl_case_find_gauge (self, i + 1))
    if (self->views[i].is_stage && self->views[i].fullness >= GST_SPDL_FULL)
      found = i;
  return found;
}

const GstSpdlStageView *
gst_spdl_case_get_sink (const GstSpdlCase *self)
{
  const GstSpdlStageView *last =
      self->n_views > 0 ? &self->views[self->n_views - 1] : NULL;

  return last && last->has_gauge && !last->is_stage ? last : NULL;
}

gboolean
gst_spdl_case_step_is_slow (const GstSpdlCase *self)
{
  const GstSpdlStageView *sink = gst_spdl_case_get_sink (self);

  if (!sink || sink->given_step == 0 || sink->batches < MIN_STEPS ||
      sink->p50_step < SLOW_STEP * sink->given_step)
    return FALSE;
  return sink->p50_step - sink->given_step >=
         MAX (sink->get_time, MIN_SLOWNESS);
}

const GstSpdlStageView *
gst_spdl_case_find_cache (const GstSpdlCase *self)
{
  for (guint i = 0; i < self->n_views; i++)
    if (self->views[i].cached > 0)
      return &self->views[i];
  return NULL;
}

gboolean
gst_spdl_case_any_foreign (const GstSpdlCase *self, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (!self->views[i].has_figures)
      return TRUE;
  return FALSE;
}

gboolean
gst_spdl_case_downstream_is_slow (
    const GstSpdlCase *self, guint full, guint next)
{
  const GstSpdlStageView *view = &self->views[full];

  if (next == full + 1)
    return FALSE;
  return !view->has_push || view->push >= GST_SPDL_FULL;
}
