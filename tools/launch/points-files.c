/* gst-spdl-launch: settings that were measured, as files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "points.h"

#include "charts.h"
#include "output.h"
#include "report.h"
#include "svg.h"

#include <json-glib/json-glib.h>

gboolean
points_write_report (GPtrArray *points, const gchar *file, const gchar *title,
    const gchar *description, const gchar *verdict, guint marked,
    GError **error)
{
  GString *out = g_string_new (NULL);
  g_autofree const gchar **labels = g_new0 (const gchar *, points->len);
  g_autofree double *rates = g_new0 (double, points->len);
  gboolean ok;

  for (guint i = 0; i < points->len; i++) {
    const Point *point = g_ptr_array_index (points, i);

    labels[i] = point->label;
    rates[i] = point->rate;
  }
  report_append_head (out);
  g_string_append (out, "<h1>");
  html_append_escaped (out, title);
  g_string_append (out, "</h1>\n<pre>");
  html_append_escaped (out, description);
  g_string_append (out, "</pre>\n<div class=\"verdict\"><p>");
  html_append_escaped (out, verdict);
  g_string_append (out, "</p></div>\n<h2>Items a second</h2>\n");
  charts_append_points (out, labels, rates, points->len, marked, title);
  report_append_end (out);
  ok = output_write (file, out->str, error);
  g_string_free (out, TRUE);
  return ok;
}

static void
add_string (JsonBuilder *b, const gchar *name, const gchar *value)
{
  json_builder_set_member_name (b, name);
  if (value)
    json_builder_add_string_value (b, value);
  else
    json_builder_add_null_value (b);
}

static void
add_point (JsonBuilder *b, const Point *point)
{
  json_builder_begin_object (b);
  add_string (b, "setting", point->label);
  json_builder_set_member_name (b, "items-per-second");
  json_builder_add_double_value (b, point->rate);
  json_builder_set_member_name (b, "cores");
  json_builder_add_double_value (b, point->cores);
  json_builder_set_member_name (b, "cost");
  json_builder_add_double_value (b, point->cost);
  json_builder_set_member_name (b, "runs");
  json_builder_add_int_value (b, point->n_runs);
  add_string (b, "error", point->error);
  json_builder_end_object (b);
}

gboolean
points_write_json (GPtrArray *points, const gchar *file,
    const gchar *description, const gchar *verdict, guint marked,
    GError **error)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree gchar *text = NULL;
  g_autofree gchar *line = NULL;

  json_builder_begin_object (b);
  add_string (b, "pipeline", description);
  add_string (b, "verdict", verdict);
  add_string (b, "recommended",
      marked == POINTS_NONE
          ? NULL
          : ((const Point *) g_ptr_array_index (points, marked))->label);
  json_builder_set_member_name (b, "points");
  json_builder_begin_array (b);
  for (guint i = 0; i < points->len; i++)
    add_point (b, g_ptr_array_index (points, i));
  json_builder_end_array (b);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  text = json_to_string (root, TRUE);
  line = g_strconcat (text, "\n", NULL);
  return output_write (file, line, error);
}
