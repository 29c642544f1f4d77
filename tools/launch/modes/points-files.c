/* gst-spdl-launch: settings that were measured, as files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/points.h"

#include "tools/launch/run/frame.h"
#include "tools/launch/views/output.h"
#include "tools/launch/views/report.h"
#include "tools/launch/views/svg.h"

#include <json-glib/json-glib.h>

/* A setting, which may be long, stands above its bar. */
#define ROW 48
#define BAR_TOP 24
#define BAR_HEIGHT 16
#define BARS_WIDTH 840

static void
append_bar (GString *out, double top, const Point *point, double most,
    const gchar *style)
{
  g_autofree gchar *rate = format_rate (point->rate);
  g_autofree gchar *number =
      point->error ? g_strdup ("failed") : g_strdup_printf ("%s items/s", rate);

  svg_text (out, 0, top + BAR_TOP - 8, SVG_WIDTH, SVG_START, point->label);
  svg_rect (out, 0, top + BAR_TOP, BARS_WIDTH, BAR_HEIGHT, "track", NULL);
  svg_rect (out, 0, top + BAR_TOP, BARS_WIDTH * point->rate / most, BAR_HEIGHT,
      style, point->error ? point->error : point->detail);
  svg_text (out, SVG_WIDTH - 10, top + BAR_TOP + BAR_HEIGHT - 3, 150, SVG_END,
      number);
}

static void
append_bars (GString *out, GPtrArray *points, guint marked, const gchar *title)
{
  double most = 1e-9;

  for (guint i = 0; i < points->len; i++)
    most = MAX (most, ((const Point *) g_ptr_array_index (points, i))->rate);
  svg_begin (out, points->len * ROW, title);
  for (guint i = 0; i < points->len; i++)
    append_bar (out, i * ROW, g_ptr_array_index (points, i), most,
        i == marked ? "hot" : "warm");
  svg_end (out);
}

static void
append_verdict (
    GString *out, GPtrArray *points, const gchar *verdict, guint marked)
{
  g_string_append (out, "<div class=\"verdict\"><p>");
  html_append_escaped (out, verdict);
  g_string_append (out, "</p>\n");
  if (marked != POINTS_NONE) {
    g_autofree gchar *settings =
        points_format_settings (g_ptr_array_index (points, marked));

    g_string_append (out, "<p>Try <code>");
    html_append_escaped (out, settings);
    g_string_append (out, "</code></p>\n");
  }
  g_string_append (out, "</div>\n");
}

gboolean
points_write_report (GPtrArray *points, const gchar *file, const gchar *title,
    const gchar *description, const gchar *verdict, guint marked,
    GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  report_append_head (out);
  g_string_append (out, "<h1>");
  html_append_escaped (out, title);
  g_string_append (out, "</h1>\n<pre>");
  html_append_escaped (out, description);
  g_string_append (out, "</pre>\n");
  append_verdict (out, points, verdict, marked);
  g_string_append_printf (out,
      "<h2>Items a second</h2>\n<p class=\"key\">%sPointed at, a bar says "
      "more.</p>\n",
      marked != POINTS_NONE ? "The one to take is red. " : "");
  append_bars (out, points, marked, title);
  report_append_end (out);
  return output_write (file, out->str, error);
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
