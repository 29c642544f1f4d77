/* gst-spdl-launch: HTML report of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/report.h"

#include "gst/spdl/common/showntext.h"
#include "tools/launch/run/process.h"
#include "tools/launch/views/charts.h"
#include "tools/launch/views/output.h"
#include "tools/launch/views/svg.h"

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
append_failure (GString *out, const GstStructure *failure)
{
  g_string_append (out, "<tr>");
  append_cell (out, g_strdup (gst_structure_get_string (failure, "stage")));
  append_cell (out, spdl_show_line (gst_structure_get_string (failure, "uri")));
  append_cell (out, failure_dup_reason (failure));
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
  charts_append_throughput (out, snapshots);
  report_append_heading (out, "Queue levels",
      "Darker cells mean that the input queue was less often empty. The right "
      "column is the average of the run.");
  charts_append_occupancy (out, snapshots, result);
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
  charts_append_pipeline (out, session->parts, result);
  append_over_time (out, session->snapshots, result);
  report_append_heading (out, "Task times",
      "<i class=\"ave\"></i>average <i class=\"p90\"></i>90th percentile <i "
      "class=\"p99\"></i>99th percentile. The right columns are the average "
      "and the 99th percentile.");
  charts_append_times (out, result);
  report_append_heading (out, "Worker time",
      "<i class=\"computing\"></i>computing <i class=\"waiting\"></i>waiting "
      "in a task <i class=\"idle\"></i>idle, in percent of the workers' time.");
  charts_append_work (out, result);
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
