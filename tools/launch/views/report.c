/* gst-spdl-launch: HTML report of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/report.h"

#include "gst/spdl/common/showntext.h"
#include "tools/launch/run/process.h"
#include "tools/launch/views/output.h"
#include "tools/launch/views/svg.h"

#include <math.h>

#define MAX_FAILURES_SHOWN 100

static const gchar head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>gst-spdl report</title>\n<style>\n"
    "body { font: 16px/1.45 sans-serif; color: #1c2733; background: #fff;\n"
    "  max-width: 1120px; margin: 0 auto; padding: 16px 24px 48px; }\n"
    "h1 { font-size: 24px; margin: 8px 0; }\n"
    "h2 { font-size: 18px; margin: 32px 0 8px; }\n"
    "p { margin: 6px 0; }\n"
    "pre, code { font-family: monospace; font-size: 14px; }\n"
    "pre { background: #f3f5f7; padding: 10px 12px; white-space: pre-wrap;\n"
    "  overflow-wrap: anywhere; border-radius: 6px; }\n"
    ".verdict { border-left: 6px solid #c2410c; background: #fff4ec;\n"
    "  padding: 10px 16px; border-radius: 4px; overflow-wrap: anywhere; }\n"
    ".error { border-left: 6px solid #b3141d; background: #fdecec;\n"
    "  padding: 10px 16px; overflow-wrap: anywhere; }\n"
    "dl { display: flex; flex-wrap: wrap; gap: 12px 32px; margin: 16px 0; }\n"
    "dl div { min-width: 110px; }\n"
    "dt { color: #5a6876; font-size: 14px; }\n"
    "dd { margin: 0; font-size: 20px; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-size: 14px; width: 100%; }\n"
    "th, td { text-align: right; padding: 4px 8px; white-space: nowrap;\n"
    "  border-bottom: 1px solid #dde3e8; vertical-align: top; }\n"
    "th { color: #5a6876; font-weight: normal; white-space: normal; }\n"
    "th:first-child, td:first-child, .text td, .text th { text-align: left;\n"
    "  white-space: normal; overflow-wrap: anywhere; min-width: 110px; }\n"
    "@media (max-width: 1000px) { table { font-size: 12px; }\n"
    "  th, td { padding: 4px; }\n"
    "  th:first-child, td:first-child { min-width: 84px; } }\n"
    "svg { display: block; width: 100%; height: auto; margin: 8px 0; }\n"
    "svg text { font: 14px monospace; fill: #1c2733; }\n"
    ".key { font-size: 14px; color: #5a6876; }\n"
    ".key i { display: inline-block; width: 14px; height: 12px;\n"
    "  margin: 0 6px 0 14px; vertical-align: -1px; }\n"
    ".box { fill: #eef4fb; stroke: #4a7fb5; stroke-width: 1.5; }\n"
    ".foreign { fill: #fff; stroke: #8a97a4; stroke-dasharray: 5 4; }\n"
    ".limit { fill: #fff4ec; stroke: #c2410c; stroke-width: 3; }\n"
    ".arrow { stroke: #4a7fb5; stroke-width: 3; }\n"
    ".axis { stroke: #5a6876; } .grid { stroke: #dde3e8; }\n"
    ".line { fill: none; stroke: #1f6fb2; stroke-width: 2.5; }\n"
    ".track, .idle { fill: #e6eaee; background: #e6eaee; }\n"
    ".warm, .computing { fill: #1f6fb2; background: #1f6fb2; }\n"
    ".hot { fill: #c2410c; }\n"
    ".waiting { fill: #e0a43a; background: #e0a43a; }\n"
    ".ave { fill: #1f6fb2; background: #1f6fb2; }\n"
    ".p90 { fill: #e0a43a; background: #e0a43a; }\n"
    ".p99 { fill: #c2410c; background: #c2410c; }\n";

/* Appends eleven shades, from empty to full. */
static void
append_shades (GString *out)
{
  for (guint i = 0; i <= 10; i++)
    g_string_append_printf (out, ".o%u { fill: #%02x%02x%02x; }\n", i,
        0xee - (0xee - 0x1f) * i / 10, 0xf2 - (0xf2 - 0x5a) * i / 10,
        0xf6 - (0xf6 - 0x96) * i / 10);
}

void
report_append_end (GString *out)
{
  g_string_append (out, "</body>\n</html>\n");
}

static void
append_paragraph (GString *out, const gchar *style, const gchar *text)
{
  g_string_append_printf (out, "<p class=\"%s\">", style);
  html_append_escaped (out, text);
  g_string_append (out, "</p>\n");
}

void
report_append_head (GString *out, const gchar *title, const gchar *note,
    const gchar *description)
{
  g_string_append (out, head);
  append_shades (out);
  g_string_append (out, "</style>\n</head>\n<body>\n<h1>");
  html_append_escaped (out, title);
  g_string_append (out, "</h1>\n");
  if (note)
    append_paragraph (out, "key", note);
  g_string_append (out, "<pre>");
  html_append_escaped (out, description);
  g_string_append (out, "</pre>\n");
}

void
report_append_heading (GString *out, const gchar *title, const gchar *text)
{
  g_string_append_printf (
      out, "<h2>%s</h2>\n<p class=\"key\">%s</p>\n", title, text);
}

void
report_append_verdict (GString *out, const gchar *sentence,
    const gchar *settings, const gchar *note)
{
  g_string_append (out, "<div class=\"verdict\"><p>");
  html_append_escaped (out, sentence);
  g_string_append (out, "</p>\n");
  if (settings) {
    g_string_append (out, "<p>Try <code>");
    html_append_escaped (out, settings);
    g_string_append (out, "</code></p>\n");
  }
  if (note)
    append_paragraph (out, "key", note);
  g_string_append (out, "</div>\n");
}

/* @value: (transfer full) */
static void
append_value (GString *out, const gchar *what, gchar *value)
{
  g_string_append_printf (out, "<div><dt>%s</dt><dd>", what);
  html_append_escaped (out, value);
  g_string_append (out, "</dd></div>\n");
  g_free (value);
}

static void
append_values (GString *out, const Snapshot *result)
{
  const GstStructure *trainer = snapshot_get_trainer (result);

  g_string_append (out, "<dl>\n");
  append_value (out, "items per second", format_rate (result->item_rate));
  append_value (out, "batches per second", format_rate (result->batch_rate));
  append_value (out, "items", format_count (result->items));
  append_value (out, "batches", format_count (result->batches));
  append_value (out, "failed", format_count (result->failures));
  append_value (out, "time", format_clock (result->time));
  if (trainer) {
    append_value (
        out, "training step", stats_format (trainer, "p50-step-time"));
    append_value (out, "its p99", stats_format (trainer, "p99-step-time"));
    append_value (
        out, "wait for a batch", stats_format (trainer, "ave-get-time"));
  }
  append_value (out, "cores busy",
      g_strdup_printf ("%.1f of %u", result->cores, result->num_cores));
  append_value (out, "peak memory", format_bytes (result->memory));
  g_string_append (out, "</dl>\n");
}

/* Appends the failures, which come before the verdict because they are more
 * important. */
static void
append_lost (GString *out, const Snapshot *result)
{
  g_autofree gchar *text = NULL;

  if (result->failures == 0)
    return;
  text = g_strdup_printf ("%" G_GUINT64_FORMAT
                          " items failed, and %" G_GUINT64_FORMAT
                          " arrived: see Failures below.",
      result->failures, result->items);
  append_paragraph (out, "error", text);
}

static void
append_diagnosis (GString *out, const GstSpdlDiagnosis *diagnosis)
{
  const GstStructure *roofline = gst_spdl_diagnosis_get_roofline (diagnosis);
  g_autofree gchar *suggestion = gst_spdl_diagnosis_dup_suggestion (diagnosis);
  g_autofree gchar *settings =
      suggestion ? g_strconcat ("--set ", suggestion, NULL) : NULL;

  report_append_verdict (out, gst_spdl_diagnosis_get_sentence (diagnosis),
      settings,
      roofline ? gst_structure_get_string (roofline, "sentence") : NULL);
}

static void
append_title (GString *out, Session *session, const GError *failure)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree gchar *when = g_date_time_format (now, "%Y-%m-%d %H:%M");
  g_autofree gchar *line = g_strdup_printf ("%s, on %s, rank %u, gst-spdl %s",
      when, g_get_host_name (), process_get_rank (), PACKAGE_VERSION);

  report_append_head (out, "Pipeline report", line, session->description);
  if (failure)
    append_paragraph (out, "error", failure->message);
}

/* Appends a table cell with @text (transfer full). */
static void
append_cell (GString *out, gchar *text)
{
  g_string_append (out, "<td>");
  html_append_escaped (out, text);
  g_string_append (out, "</td>");
  g_free (text);
}

static const struct {
  const gchar *title;
  const gchar *field;
  gboolean optional; /* shown only if an element has the field */
} columns[] = {
  { "concur&shy;rency", "concurrency" },
  { "tasks", "num-tasks" },
  { "items", "num-items" },
  { "items/s", "qps" },
  { "task takes", "ave-time" },
  { "p90", "p90-time" },
  { "p99", "p99-time" },
  { "upstream waits", "ave-put-time" },
  { "waiting for work", "ave-get-time" },
  { "queue full", "occupancy-rate" },
  { "failed", "num-failures" },
  { "from the cache", "cache-hits", TRUE },
  { "not from the cache", "cache-misses", TRUE },
};

static gboolean
is_shown (guint column, const Snapshot *result)
{
  return !columns[column].optional ||
         snapshot_has_field (result, columns[column].field);
}

static void
append_table (GString *out, const Snapshot *result)
{
  g_string_append (out, "<div class=\"wide\"><table>\n<tr><th>element</th>");
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (is_shown (i, result))
      g_string_append_printf (out, "<th>%s</th>", columns[i].title);
  g_string_append (out, "</tr>\n");
  for (guint k = 0; k < result->stages->len; k++) {
    const GstStructure *stats = g_ptr_array_index (result->stages, k);

    g_string_append (out, "<tr>");
    append_cell (out, g_strdup (stats_get_name (stats)));
    for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
      if (is_shown (i, result))
        append_cell (out, stats_format (stats, columns[i].field));
    g_string_append (out, "</tr>\n");
  }
  g_string_append (out, "</table></div>\n");
}

static void
append_failure (GString *out, const GstSpdlFailure *failure)
{
  g_string_append (out, "<tr>");
  append_cell (out, g_strdup (failure->stage));
  append_cell (out, spdl_show_line (failure->uri));
  append_cell (out, g_strdup (failure->error->message));
  g_string_append (out, "</tr>\n");
}

static void
append_failures (GString *out, GPtrArray *failures, guint64 n)
{
  if (n == 0) {
    report_append_heading (out, "Failures", "No item failed.");
    return;
  }
  g_autofree gchar *text = g_strdup_printf (
      "%" G_GUINT64_FORMAT " items failed; the first of them:", n);
  report_append_heading (out, "Failures", text);
  g_string_append (out, "<div class=\"wide\"><table "
                        "class=\"text\">\n<tr><th>element</th><th>item</"
                        "th><th>reason</th></tr>\n");
  for (guint i = 0; i < MIN (failures->len, MAX_FAILURES_SHOWN); i++)
    append_failure (out, g_ptr_array_index (failures, i));
  g_string_append (out, "</table></div>\n");
}

/* Charts: each function appends one SVG drawing. */

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

/* All elements with their load, from source to sink. The bottleneck is
 * highlighted. */
static void
append_pipeline_chart (GString *out, GPtrArray *parts, const Snapshot *result)
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

/* Items per second over time. */
static void
append_throughput_chart (GString *out, GPtrArray *snapshots)
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

/* Queue occupancy over time. */
static void
append_occupancy_chart (
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

/* Average, 90th and 99th percentile of task times per stage. */
static void
append_times_chart (GString *out, const Snapshot *result)
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

/* Worker time: computing, waiting, idle. */
static void
append_work_chart (GString *out, const Snapshot *result)
{
  begin_rows (out, result, "num-tasks", 0, "Worker time");
  append_rows (out, result, "num-tasks", append_work, NULL);
  svg_end (out);
}

/* The page */

static void
append_over_time (GString *out, GPtrArray *snapshots, const Snapshot *result)
{
  if (snapshots->len < 2) {
    report_append_heading (
        out, "Over time", "The run was too short for more than one interval.");
    return;
  }
  report_append_heading (
      out, "Throughput", "Items per second, one point per interval.");
  append_throughput_chart (out, snapshots);
  report_append_heading (out, "Queue levels",
      "Darker cells mean that the input queue was less often empty. The right "
      "column is the average of the run.");
  append_occupancy_chart (out, snapshots, result);
}

static gchar *
make_report (Session *session, const GError *failure)
{
  const Snapshot *result = session->result;
  GString *out = g_string_new (NULL);

  append_title (out, session, failure);
  append_lost (out, result);
  append_diagnosis (out, result->diagnosis);
  append_values (out, result);
  report_append_heading (out, "The pipeline",
      "From source to sink; dashed boxes are elements without statistics.");
  append_pipeline_chart (out, session->parts, result);
  append_over_time (out, session->snapshots, result);
  report_append_heading (out, "Task times",
      "<i class=\"ave\"></i>average <i class=\"p90\"></i>90th percentile <i "
      "class=\"p99\"></i>99th percentile. The right columns are the average "
      "and the 99th percentile.");
  append_times_chart (out, result);
  report_append_heading (out, "Worker time",
      "<i class=\"computing\"></i>computing <i class=\"waiting\"></i>waiting "
      "in a task <i class=\"idle\"></i>idle, in percent of the workers' time.");
  append_work_chart (out, result);
  append_failures (out, session->failures, result->failures);
  report_append_heading (out, "All figures", "Since the start.");
  append_table (out, result);
  report_append_end (out);
  return g_string_free (out, FALSE);
}

gboolean
report_write (
    Session *session, const gchar *file, const GError *failure, GError **error)
{
  g_autofree gchar *page = make_report (session, failure);

  return output_write (file, page, error);
}
