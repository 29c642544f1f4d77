/* gst-spdl-launch: a pipeline beside a cache, as files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/headspace.h"
#include "tools/launch/modes/points.h"
#include "tools/launch/run/pipeline.h"
#include "tools/launch/views/output.h"

#include <json-glib/json-glib.h>

static void
add_string (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_string_value (b, value);
}

static void
add_number (JsonBuilder *b, const gchar *name, double value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

/* Nanoseconds, as all figures are. */
static void
add_time (JsonBuilder *b, const gchar *name, gint64 ns)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, ns);
}

static void
add_spread (JsonBuilder *b, const gchar *name, const Spread *spread)
{
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
  add_time (b, "batch-time", spread->median * 1e9);
  add_time (b, "least", spread->least * 1e9);
  add_time (b, "most", spread->most * 1e9);
  json_builder_end_object (b);
}

static void
add_run (JsonBuilder *b, const HeadspaceRun *run)
{
  json_builder_begin_object (b);
  json_builder_set_member_name (b, "cached");
  json_builder_add_boolean_value (b, run->cached);
  add_time (b, "batch-time", run->batch_time * 1e9);
  add_time (b, "p50-step-time", run->p50_step);
  add_time (b, "p99-step-time", run->p99_step);
  add_time (b, "ave-get-time", run->wait * 1e9);
  add_number (b, "items-per-second", run->rate);
  add_number (b, "cores", run->cores);
  json_builder_end_object (b);
}

static gboolean
write_json (const Headspace *self, const gchar *description, GError **error)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  g_autofree gchar *line = NULL;

  json_builder_begin_object (b);
  add_string (b, "version", PACKAGE_VERSION);
  add_string (b, "pipeline", description);
  add_string (b, "host", g_get_host_name ());
  add_time (b, "step", self->options->step * 1e6);
  add_string (b, "verdict", self->verdict);
  add_string (b, "advice", gains_get_advice (&self->gains));
  add_number (b, "headspace", self->gains.headspace);
  add_number (b, "headspace-least", self->gains.least);
  add_number (b, "headspace-most", self->gains.most);
  add_spread (b, "base", &self->gains.base);
  add_spread (b, "cached", &self->gains.cached);
  json_builder_set_member_name (b, "runs");
  json_builder_begin_array (b);
  for (guint i = 0; i < self->runs->len; i++)
    add_run (b, &g_array_index (self->runs, HeadspaceRun, i));
  json_builder_end_array (b);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  text = json_to_string (root, TRUE);
  line = g_strconcat (text, "\n", NULL);
  return output_write (self->options->json, line, error);
}

/* A bar for each run. */
static GPtrArray *
make_points (const Headspace *self)
{
  GPtrArray *points = g_ptr_array_new_with_free_func (point_free);

  for (guint i = 0; i < self->runs->len; i++) {
    const HeadspaceRun *run = &g_array_index (self->runs, HeadspaceRun, i);
    g_autofree gchar *batch = format_ns (run->batch_time * 1e9);
    Point *point = g_new0 (Point, 1);

    point->label = g_strdup (run->cached ? "from the cache" : "as it is");
    point->settings = g_new0 (gchar *, 1);
    point->rate = run->rate;
    point->n_runs = 1;
    point->cores = run->cores;
    point->detail = g_strdup_printf ("a batch takes %s", batch);
    g_ptr_array_add (points, point);
  }
  return points;
}

gboolean
headspace_write_files (const Headspace *self, GError **error)
{
  const Options *options = self->options;
  g_autofree gchar *description = pipeline_describe (options->pipeline);
  g_autoptr (GPtrArray) points = make_points (self);

  if (options->json && !write_json (self, description, error))
    return FALSE;
  return !options->report ||
         points_write_report (points, options->report, "Headspace", description,
             self->verdict, POINTS_NONE, error);
}
