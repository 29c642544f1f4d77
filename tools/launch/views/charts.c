/* gst-spdl-launch: charts of a report
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/charts.h"

#include "tools/launch/views/svg.h"

#include <math.h>

/* Layout of a chart with a row per stage: name, bars, and numbers. */
#define ROW 30
#define NAME_WIDTH 346 /* 40 characters */
#define BARS_X 360
#define BARS_WIDTH 470
#define NUMBERS_X 990
#define NUMBERS_WIDTH 150

/* Fraction of busy time from which workers are highlighted. */
#define HOT 0.85

/* Layout of a chart over time. */
#define PLOT_X 80
#define PLOT_WIDTH 900
#define PLOT_TOP 14
#define PLOT_HEIGHT 180
#define PLOT_BOTTOM (PLOT_TOP + PLOT_HEIGHT)
#define MAX_STRIPES \
  235 /* per row of the chart over time; each is two units wide */

static double
base_line (double top)
{
  return top + ROW / 2.0 + SVG_TEXT / 3.0;
}

static void
append_number (GString *out, double top, gchar *text)
{
  svg_text (out, NUMBERS_X, base_line (top), NUMBERS_WIDTH, SVG_END, text);
  g_free (text);
}

/* Begins a drawing with a row per element that has @field. Returns the height
 * of the rows.
 * @below: height of an axis */
static double
begin_rows (GString *out, const Snapshot *result, const gchar *field,
    double below, const gchar *title)
{
  guint n = 0;

  for (guint i = 0; i < result->stages->len; i++)
    n += gst_structure_has_field (g_ptr_array_index (result->stages, i), field);
  svg_begin (out, n * ROW + below, title);
  return n * ROW;
}

typedef void (*RowFunc) (GString *out, double top, const GstStructure *stats,
    gconstpointer user_data);

static void
append_rows (GString *out, const Snapshot *result, const gchar *field,
    RowFunc append_row, gconstpointer user_data)
{
  double top = 0;

  for (guint i = 0; i < result->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (result->stages, i);

    if (!gst_structure_has_field (stats, field))
      continue;
    svg_text (
        out, 0, base_line (top), NAME_WIDTH, SVG_START, stats_get_name (stats));
    append_row (out, top, stats, user_data);
    top += ROW;
  }
}

/* The pipeline */

static void
append_load (GString *out, double top, const gchar *what, double share,
    const gchar *style)
{
  g_autofree gchar *text = format_percent (share);
  g_autofree gchar *title = g_strdup_printf ("%s: %s", what, text);
  const double width = 150;

  svg_text (out, 380, top, 0, SVG_START, what);
  svg_rect (out, 560, top - 10, width, 11, "track", title);
  svg_rect (out, 560, top - 10, width * share, 11, style, title);
  svg_text (out, 780, top, 60, SVG_END, text);
}

static void
append_box (GString *out, double top, const Part *part, const Snapshot *result)
{
  const GstStructure *stats = snapshot_find (result, part->name);
  const gboolean limit =
      g_strcmp0 (
          gst_spdl_diagnosis_get_element (result->diagnosis), part->name) == 0;
  const gchar *style = limit ? "box limit" : stats ? "box" : "box foreign";

  svg_rect (out, 2, top + 4, 354, ROW + 12, style, NULL);
  svg_text (out, 10, top + ROW, 340, SVG_START, part->name);
  if (!stats)
    return;
  if (gst_structure_has_field (stats, "occupancy-rate"))
    append_load (out, top + 20, "items wait here",
        stats_get_double (stats, "occupancy-rate"), "warm");
  if (gst_structure_has_field (stats, "num-tasks")) {
    const double busy = stats_get_busy (stats);

    append_load (
        out, top + 40, "workers are busy", busy, busy >= HOT ? "hot" : "warm");
  }

  g_autofree gchar *rate = stats_format (stats, "qps");
  append_number (out, top + 9, g_strdup_printf ("%s items/s", rate));
}

void
charts_append_pipeline (GString *out, GPtrArray *parts, const Snapshot *result)
{
  const double step = ROW + 30;

  svg_begin (out, parts->len * step, "The pipeline with its load");
  for (guint i = 0; i < parts->len; i++) {
    append_box (out, i * step, g_ptr_array_index (parts, i), result);
    if (i + 1 < parts->len)
      svg_line (out, 30, i * step + ROW + 16, 30, (i + 1) * step + 4, "arrow");
  }
  svg_end (out);
}

/* Over time */

static double
last_time (GPtrArray *snapshots)
{
  const Snapshot *last = g_ptr_array_index (snapshots, snapshots->len - 1);

  return MAX (last->time, 0.001);
}

static void
append_time_axis (
    GString *out, double bottom, double x, double width, double end)
{
  const double step = svg_round_step (end, 6);

  for (double t = 0; t <= end * 1.0001; t += step) {
    g_autofree gchar *label = g_strdup_printf ("%g s", t);
    const double at = x + width * t / end;

    svg_line (out, at, bottom, at, bottom + 5, "axis");
    svg_text (out, CLAMP (at, x + 16, x + width - 24), bottom + 22, 0,
        SVG_MIDDLE, label);
  }
}

static void
append_value_axis (GString *out, double most)
{
  const double step = svg_round_step (most, 5);

  for (double v = 0; v <= most * 1.0001; v += step) {
    const double y = PLOT_BOTTOM - PLOT_HEIGHT * v / most;
    g_autofree gchar *label = g_strdup_printf ("%g", v);

    svg_line (out, PLOT_X, y, PLOT_X + PLOT_WIDTH, y, "grid");
    svg_text (out, PLOT_X - 8, y + 5, PLOT_X - 8, SVG_END, label);
  }
}

void
charts_append_throughput (GString *out, GPtrArray *snapshots)
{
  const double end = last_time (snapshots);
  g_autofree double *x = g_new (double, snapshots->len);
  g_autofree double *y = g_new (double, snapshots->len);
  double most = 1;

  for (guint i = 0; i < snapshots->len; i++) {
    const Snapshot *snapshot = g_ptr_array_index (snapshots, i);

    most = MAX (most, snapshot->item_rate);
  }
  most *= 1.05;
  for (guint i = 0; i < snapshots->len; i++) {
    const Snapshot *snapshot = g_ptr_array_index (snapshots, i);

    x[i] = PLOT_X + PLOT_WIDTH * (snapshot->time - snapshot->elapsed / 2) / end;
    y[i] = PLOT_BOTTOM - PLOT_HEIGHT * snapshot->item_rate / most;
  }
  svg_begin (out, PLOT_BOTTOM + 30, "Items per second over time");
  append_value_axis (out, most);
  append_time_axis (out, PLOT_BOTTOM, PLOT_X, PLOT_WIDTH, end);
  svg_polyline (out, x, y, snapshots->len, "line");
  svg_end (out);
}

/* Appends a stripe for a range of intervals. A darker one means a fuller
 * queue. */
static void
append_stripe (GString *out, double top, GPtrArray *snapshots, guint from,
    guint to, const gchar *name)
{
  const double end = last_time (snapshots);
  const Snapshot *last = g_ptr_array_index (snapshots, to - 1);
  double begin = 0, sum = 0;

  if (from > 0)
    begin = ((const Snapshot *) g_ptr_array_index (snapshots, from - 1))->time;
  for (guint i = from; i < to; i++) {
    const GstStructure *stats =
        snapshot_find (g_ptr_array_index (snapshots, i), name);

    sum += stats ? stats_get_double (stats, "occupancy-rate") : 0;
  }

  const double share = sum / (to - from);
  g_autofree gchar *percent = format_percent (share);
  g_autofree gchar *title =
      g_strdup_printf ("%.1f to %.1f s: %s", begin, last->time, percent);
  g_autofree gchar *style =
      g_strdup_printf ("o%ld", lround (CLAMP (share, 0, 1) * 10));
  svg_rect (out, BARS_X + BARS_WIDTH * begin / end, top + 5,
      BARS_WIDTH * (last->time - begin) / end, ROW - 10, style, title);
}

static void
append_stripes (GString *out, double top, const GstStructure *stats,
    gconstpointer user_data)
{
  GPtrArray *snapshots = (GPtrArray *) user_data;
  const guint n = MIN (snapshots->len, MAX_STRIPES);

  for (guint i = 0; i < n; i++)
    append_stripe (out, top, snapshots, (guint64) snapshots->len * i / n,
        (guint64) snapshots->len * (i + 1) / n, stats_get_name (stats));
  append_number (out, top, stats_format (stats, "occupancy-rate"));
}

void
charts_append_occupancy (
    GString *out, GPtrArray *snapshots, const Snapshot *result)
{
  const double bottom = begin_rows (
      out, result, "occupancy-rate", 30, "How full each queue was over time");

  append_rows (out, result, "occupancy-rate", append_stripes, snapshots);
  append_time_axis (out, bottom, BARS_X, BARS_WIDTH, last_time (snapshots));
  svg_end (out);
}

/* By stage */

/* A logarithmic scale of times, in ns. */
typedef struct {
  double least, most;
} Scale;

static double
get_position (const Scale *scale, double ns)
{
  const double range = MAX (log10 (scale->most / scale->least), 0.001);

  return BARS_X +
         BARS_WIDTH * log10 (MAX (ns, scale->least) / scale->least) / range;
}

static void
append_times (
    GString *out, double top, const GstStructure *stats, gconstpointer scale)
{
  static const gchar *fields[] = { "ave-time", "p90-time", "p99-time" };
  static const gchar *styles[] = { "ave", "p90", "p99" };
  const double y = top + ROW / 2.0;
  g_autofree gchar *ave = format_ns (stats_get (stats, "ave-time"));
  g_autofree gchar *p99 = format_ns (stats_get (stats, "p99-time"));

  svg_line (out, BARS_X, y, BARS_X + BARS_WIDTH, y, "grid");
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    const guint64 ns = stats_get (stats, fields[i]);
    g_autofree gchar *text = format_ns (ns);
    g_autofree gchar *title = g_strdup_printf ("%s: %s", fields[i], text);

    svg_rect (
        out, get_position (scale, ns) - 3, y - 8, 6, 16, styles[i], title);
  }
  append_number (out, top, g_strdup_printf ("%s, %s", ave, p99));
}

static void
append_time_scale (GString *out, double bottom, const Scale *scale)
{
  for (double t = scale->least; t <= scale->most * 1.001; t *= 10) {
    g_autofree gchar *label = t < 1e6   ? g_strdup_printf ("%g us", t / 1e3)
                              : t < 1e9 ? g_strdup_printf ("%g ms", t / 1e6)
                                        : g_strdup_printf ("%g s", t / 1e9);
    const double x = get_position (scale, t);

    svg_line (out, x, 0, x, bottom + 5, "grid");
    svg_text (out, CLAMP (x, BARS_X + 24, BARS_X + BARS_WIDTH - 28),
        bottom + 22, 0, SVG_MIDDLE, label);
  }
}

void
charts_append_times (GString *out, const Snapshot *result)
{
  const double bottom = begin_rows (out, result, "num-tasks", 30, "Task times");
  double least = 1e12, most = 1;
  Scale scale;

  for (guint i = 0; i < result->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (result->stages, i);
    const double ave = stats_get (stats, "ave-time");

    if (ave == 0)
      continue;
    least = MIN (least, ave);
    most = MAX (most, MAX (ave, stats_get (stats, "p99-time")));
  }
  scale.least = pow (10, floor (log10 (MIN (least, most))));
  scale.most = MAX (pow (10, ceil (log10 (most))), scale.least * 10);
  append_time_scale (out, bottom, &scale);
  append_rows (out, result, "num-tasks", append_times, &scale);
  svg_end (out);
}

static double
append_share (
    GString *out, double x, double top, double share, const gchar *what)
{
  g_autofree gchar *percent = format_percent (share);
  g_autofree gchar *title = g_strdup_printf ("%s: %s", what, percent);

  svg_rect (out, x, top + 5, BARS_WIDTH * share, ROW - 10, what, title);
  return x + BARS_WIDTH * share;
}

static void
append_work (GString *out, double top, const GstStructure *stats,
    gconstpointer user_data)
{
  const double busy = stats_get_busy (stats);
  const double computing = busy * stats_get_computing (stats);
  double x = BARS_X;

  x = append_share (out, x, top, computing, "computing");
  x = append_share (out, x, top, busy - computing, "waiting");
  append_share (out, x, top, 1 - busy, "idle");
  append_number (out, top,
      g_strdup_printf ("%ld / %ld / %ld %%", lround (computing * 100),
          lround ((busy - computing) * 100), lround ((1 - busy) * 100)));
}

void
charts_append_work (GString *out, const Snapshot *result)
{
  begin_rows (out, result, "num-tasks", 0, "Worker time");
  append_rows (out, result, "num-tasks", append_work, NULL);
  svg_end (out);
}
