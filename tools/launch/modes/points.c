/* gst-spdl-launch: results per setting, and recommendation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/points.h"

#include <math.h>
#include <string.h>

#include "tools/launch/run/pipeline.h"
#include "tools/launch/views/json.h"
#include "tools/launch/views/output.h"
#include "tools/launch/views/report.h"
#include "tools/launch/views/screen.h"
#include "tools/launch/views/svg.h"
#include "tools/launch/views/table.h"

#define MAX_AGAIN 8 /* maximum number of runs to confirm the recommendation */

void
point_free (gpointer data)
{
  Point *point = data;

  g_free (point->label);
  g_strfreev (point->settings);
  g_free (point->detail);
  g_free (point->error);
  g_free (point);
}

static const Point *
get_point (GPtrArray *points, guint i)
{
  return g_ptr_array_index (points, i);
}

static gboolean
is_candidate (const Point *point, guint min_runs)
{
  return !point->error && point->rate > 0 && point->n_runs >= min_runs;
}

static guint
find_best (GPtrArray *points, guint min_runs)
{
  guint best = POINTS_NONE;

  for (guint i = 0; i < points->len; i++)
    if (is_candidate (get_point (points, i), min_runs) &&
        (best == POINTS_NONE ||
            get_point (points, i)->rate > get_point (points, best)->rate))
      best = i;
  return best;
}

/* Compares by cost, then by CPU usage. */
static gboolean
is_cheaper (const Point *a, const Point *b)
{
  return a->cost < b->cost || (a->cost == b->cost && a->cores < b->cores);
}

static guint
find_cheapest (GPtrArray *points, guint min_runs)
{
  const guint best = find_best (points, min_runs);
  guint found = best;

  for (guint i = 0; i < points->len && best != POINTS_NONE; i++)
    if (is_candidate (get_point (points, i), min_runs) &&
        get_point (points, i)->rate >=
            POINTS_AS_GOOD * get_point (points, best)->rate &&
        is_cheaper (get_point (points, i), get_point (points, found)))
      found = i;
  return found;
}

guint
points_best (GPtrArray *points)
{
  return find_best (points, 1);
}

guint
points_cheapest (GPtrArray *points)
{
  return find_cheapest (points, 1);
}

/* Updates the mean rate. */
static void
add_run (Point *point, double rate)
{
  point->rate = (point->rate * point->n_runs + rate) / (point->n_runs + 1);
  point->n_runs++;
}

guint
points_confirm (GPtrArray *points, PointsAgainFunc again, gpointer user_data)
{
  for (guint i = 0; i < MAX_AGAIN; i++) {
    const guint best = points_best (points);
    const guint cheapest = points_cheapest (points);
    guint next = cheapest;
    double rate;

    if (best == POINTS_NONE)
      return POINTS_NONE;
    if (get_point (points, next)->n_runs >= 2)
      next = best;
    if (get_point (points, next)->n_runs >= 2)
      return cheapest;
    rate = again (next, user_data);
    if (rate < 0)
      return POINTS_NONE;
    add_run (g_ptr_array_index (points, next), rate);
  }
  return find_cheapest (points, 2);
}

/* Returns whether no other point is both cheaper and faster. */
static gboolean
is_unbeaten (GPtrArray *points, guint k)
{
  for (guint i = 0; i < points->len; i++)
    if (i != k && !get_point (points, i)->error &&
        get_point (points, i)->cost <= get_point (points, k)->cost &&
        get_point (points, i)->rate > get_point (points, k)->rate)
      return FALSE;
  return !get_point (points, k)->error;
}

guint
points_knee (GPtrArray *points)
{
  const guint best = points_best (points);
  guint first = POINTS_NONE, knee = POINTS_NONE;
  double highest = 0.05;

  for (guint i = 0; i < points->len; i++)
    if (is_unbeaten (points, i) &&
        (first == POINTS_NONE ||
            get_point (points, i)->cost < get_point (points, first)->cost))
      first = i;
  if (first == POINTS_NONE || first == best)
    return best;

  const Point *low = get_point (points, first),
              *high = get_point (points, best);
  for (guint i = 0; i < points->len; i++) {
    const Point *point = get_point (points, i);

    if (!is_unbeaten (points, i) || point->cost > high->cost)
      continue;
    const double above = (point->rate - low->rate) / (high->rate - low->rate) -
                         (point->cost - low->cost) / (high->cost - low->cost);
    if (above > highest) {
      highest = above;
      knee = i;
    }
  }
  return knee;
}

/* Table */

/* Total width of the columns other than label, bar and detail. */
#define OTHER_COLUMNS 20
#define MIN_BAR 4
#define MAX_BAR 30
#define MIN_DETAIL 14

typedef struct {
  guint label, bar, detail;
  gboolean broken; /* labels are on separate lines */
} Layout;

/* Computes the layout. Labels identify the rows, so they are never
 * truncated. */
static Layout
lay_out (GPtrArray *points, guint detail, guint width)
{
  Layout layout = { .label = 8, .detail = detail };
  guint least, left;

  for (guint i = 0; i < points->len; i++) {
    const Point *point = get_point (points, i);

    layout.label = MAX (layout.label, g_utf8_strlen (point->label, -1));
    if (point->detail)
      layout.detail = MAX (layout.detail, g_utf8_strlen (point->detail, -1));
  }
  least = OTHER_COLUMNS + MIN_BAR + MIN (layout.detail, MIN_DETAIL);
  layout.broken = layout.label + least > width;
  if (layout.broken)
    layout.label = 8;
  left = width - MIN (OTHER_COLUMNS + layout.label, width);
  layout.detail = MIN (layout.detail, MAX (left, MIN_BAR) - MIN_BAR);
  layout.bar = CLAMP (left - MIN (left, layout.detail), MIN_BAR, MAX_BAR);
  return layout;
}

static void
append_row (GString *out, const Point *point, double most, const Layout *layout)
{
  g_autofree gchar *label =
      text_fit (layout->broken ? "" : point->label, layout->label);
  g_autofree gchar *rate = format_rate (point->rate);
  g_autofree gchar *bar = text_bar (point->rate / most, layout->bar);
  g_autofree gchar *detail = NULL;

  if (layout->broken)
    g_string_append_printf (out, "%s\n", point->label);
  if (point->error) {
    g_string_append_printf (out, "%s  %s\n", label, point->error);
    return;
  }
  detail = text_fit (point->detail, layout->detail);
  g_strchomp (detail);
  g_string_append_printf (
      out, "%s %8s  %s  %5.1f  %s\n", label, rate, bar, point->cores, detail);
}

gchar *
points_format (GPtrArray *points, const gchar *detail_title, guint width)
{
  const guint best = points_best (points);
  const double most = best == POINTS_NONE ? 1 : get_point (points, best)->rate;
  const Layout layout =
      lay_out (points, g_utf8_strlen (detail_title, -1), width);
  g_autofree gchar *title = text_fit ("setting", layout.label);
  g_autofree gchar *detail = text_fit (detail_title, layout.detail);
  GString *out = g_string_new (NULL);

  g_strchomp (detail);
  g_string_append_printf (out, "%s  items/s  %*s  cores  %s\n", title,
      (int) layout.bar, "", detail);
  for (guint i = 0; i < points->len; i++)
    append_row (out, get_point (points, i), most, &layout);
  return g_string_free (out, FALSE);
}

gchar *
points_format_settings (const Point *point)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; point->settings[i]; i++) {
    const gchar *setting = point->settings[i];
    g_autofree gchar *quoted = strpbrk (setting, " \t'\"$`\\!();&|<>*?")
                                   ? g_shell_quote (setting)
                                   : g_strdup (setting);

    g_string_append_printf (text, "%s--set %s", i > 0 ? " " : "", quoted);
  }
  return g_string_free (text, FALSE);
}

void
points_append_knee (GString *text, GPtrArray *points)
{
  const guint knee = points_knee (points);
  g_autofree gchar *rate = NULL;

  if (knee == POINTS_NONE || knee == points_best (points))
    return;
  rate = format_rate (get_point (points, knee)->rate);
  g_string_append_printf (text,
      "; above %s with %s, each further task gains less",
      get_point (points, knee)->label, rate);
}

/* Output files */

/* Layout of the chart. The label of a setting, which may be long, is above its
 * bar. */
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

static gboolean
write_report (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, const gchar *settings, GError **error)
{
  g_autofree gchar *description = pipeline_describe (options->pipeline);
  g_autoptr (GString) out = g_string_new (NULL);

  report_append_head (out, conclusion->title, NULL, description);
  report_append_verdict (out, conclusion->verdict, settings, NULL);
  report_append_heading (out, "Items per second",
      settings ? "The recommended setting is red. Hover over a bar for details."
               : "Hover over a bar for details.");
  append_bars (out, points, conclusion->chosen, conclusion->title);
  report_append_end (out);
  return output_write (options->report, out->str, error);
}

static void
add_point (JsonBuilder *b, gconstpointer data)
{
  const Point *point = data;

  json_add (b, "setting", G_TYPE_STRING, point->label, "items-per-second",
      G_TYPE_DOUBLE, point->rate, "cores", G_TYPE_DOUBLE, point->cores, "cost",
      G_TYPE_DOUBLE, point->cost, "runs", G_TYPE_UINT, point->n_runs, "error",
      G_TYPE_STRING, point->error, NULL);
}

static gboolean
write_json (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error)
{
  JsonBuilder *b = json_builder_new ();
  g_autofree gchar *description = pipeline_describe (options->pipeline);

  json_builder_begin_object (b);
  json_add (b, "pipeline", G_TYPE_STRING, description, "verdict", G_TYPE_STRING,
      conclusion->verdict, NULL);
  if (conclusion->add) {
    conclusion->add (b, conclusion->user_data);
  } else {
    json_add (b, "recommended", G_TYPE_STRING,
        conclusion->chosen == POINTS_NONE
            ? NULL
            : get_point (points, conclusion->chosen)->label,
        NULL);
    json_add_array (b, "points", points, add_point);
  }
  json_builder_end_object (b);
  return json_output (b, options->json, error);
}

int
conclude (const Options *options, GPtrArray *points,
    const Conclusion *conclusion, GError **error)
{
  FILE *out = options_get_out (options);
  const guint width = screen_get_width (out);
  g_autofree gchar *table =
      conclusion->table
          ? g_strdup (conclusion->table)
          : points_format (points, conclusion->detail_title, width);
  g_autofree gchar *verdict = text_wrap (conclusion->verdict, width);
  g_autofree gchar *settings =
      conclusion->chosen == POINTS_NONE
          ? NULL
          : points_format_settings (get_point (points, conclusion->chosen));

  fprintf (out, "%s\n%s\n", table, verdict);
  if (settings)
    fprintf (out, "try: %s\n", settings);
  fflush (out);
  if ((options->json && !write_json (options, points, conclusion, error)) ||
      (options->report &&
          !write_report (options, points, conclusion, settings, error)))
    return 1;
  return points_best (points) == POINTS_NONE ? 1 : 0;
}
