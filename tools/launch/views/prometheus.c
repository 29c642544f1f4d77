/* gst-spdl-launch: statistics in the Prometheus text format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/prometheus.h"

#include <string.h>

typedef enum {
  COUNTER,
  NANOSECONDS, /* gauge, converted to seconds */
  NANOSECONDS_COUNTER,
  GAUGE,
  SMALL_GAUGE,
} Kind;

typedef struct {
  const gchar *name;
  const gchar *field;
  Kind kind;
  const gchar *help;
} Metric;

static const Metric metrics[] = {
  { "spdl_tasks_total", "num-tasks", COUNTER, "Finished tasks." },
  { "spdl_items_total", "num-items", COUNTER, "Items received." },
  { "spdl_batches_total", "num-batches", COUNTER, "Batches sent." },
  { "spdl_cached_batches_total", "num-cached", COUNTER,
      "Batches sent from the cache." },
  { "spdl_failures_total", "num-failures", COUNTER, "Failed items." },
  { "spdl_filtered_total", "num-filtered", COUNTER, "Items without a result." },
  { "spdl_in_bytes_total", "bytes-in", COUNTER, "Bytes received." },
  { "spdl_out_bytes_total", "bytes-out", COUNTER, "Bytes sent." },
  { "spdl_cache_hits_total", "cache-hits", COUNTER,
      "Items found in the disk cache." },
  { "spdl_cache_misses_total", "cache-misses", COUNTER,
      "Items not found in the disk cache." },
  { "spdl_cache_bytes_total", "cache-bytes", COUNTER,
      "Bytes read from the disk cache." },
  { "spdl_cache_errors_total", "cache-errors", COUNTER,
      "Items that could not be stored in the disk cache." },
  { "spdl_cpu_seconds_total", "cpu-time", NANOSECONDS_COUNTER,
      "CPU time of the workers." },
  { "spdl_task_mean_seconds", "ave-time", NANOSECONDS,
      "Mean task time since the start." },
  { "spdl_task_p90_seconds", "p90-time", NANOSECONDS,
      "90th percentile of the task times." },
  { "spdl_task_p99_seconds", "p99-time", NANOSECONDS,
      "99th percentile of the task times." },
  { "spdl_put_mean_seconds", "ave-put-time", NANOSECONDS,
      "Mean time that upstream waited for room in the queue." },
  { "spdl_get_mean_seconds", "ave-get-time", NANOSECONDS,
      "Mean time that workers, or the trainer, waited for input." },
  { "spdl_step_mean_seconds", "ave-step-time", NANOSECONDS,
      "Mean training step time." },
  { "spdl_step_p50_seconds", "p50-step-time", NANOSECONDS,
      "Median training step time." },
  { "spdl_step_p99_seconds", "p99-step-time", NANOSECONDS,
      "99th percentile of the training step times." },
  { "spdl_latency_mean_seconds", "ave-latency", NANOSECONDS,
      "Mean age of an item when it is pulled." },
  { "spdl_occupancy_ratio", "occupancy-rate", GAUGE,
      "Share of the time in which the input queue was not empty." },
  { "spdl_push_ratio", "push-rate", GAUGE,
      "Share of the time in which the stage was sending results." },
  { "spdl_concurrency", "concurrency", SMALL_GAUGE,
      "Tasks that may run at the same time." },
  { "spdl_queue_size", "queue-size", SMALL_GAUGE, "Tasks that may wait." },
};

static void
append_label (GString *out, const gchar *name, const gchar *value)
{
  g_string_append_printf (out, "%s=\"", name);
  for (; *value; value++) {
    if (*value == '\n')
      g_string_append (out, "\\n");
    else if (*value == '"' || *value == '\\')
      g_string_append_printf (out, "\\%c", *value);
    else
      g_string_append_c (out, *value);
  }
  g_string_append_c (out, '"');
}

static void
append_head (
    GString *out, const gchar *name, gboolean counter, const gchar *help)
{
  g_string_append_printf (out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
      counter ? "counter" : "gauge");
}

static void
append_sample (GString *out, const gchar *name, const gchar *stage, guint rank,
    const gchar *host, double value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (out, "%s{", name);
  if (stage) {
    append_label (out, "stage", stage);
    g_string_append_c (out, ',');
  }
  g_string_append_printf (out, "rank=\"%u\",", rank);
  append_label (out, "host", host);
  g_ascii_formatd (number, sizeof number, "%.12g", value);
  g_string_append_printf (out, "} %s\n", number);
}

static double
get_value (const GstStructure *stats, const Metric *metric)
{
  switch (metric->kind) {
    case COUNTER:
      return stats_get (stats, metric->field);
    case NANOSECONDS:
    case NANOSECONDS_COUNTER:
      return stats_get (stats, metric->field) / 1e9;
    case SMALL_GAUGE:
      return stats_get_uint (stats, metric->field);
    default:
      return stats_get_double (stats, metric->field);
  }
}

static void
append_metric (GString *out, const Metric *metric, const Snapshot *snapshot,
    guint rank, const gchar *host)
{
  gboolean any = FALSE;

  for (guint i = 0; i < snapshot->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i);

    if (!gst_structure_has_field (stats, metric->field))
      continue;
    if (!any)
      append_head (out, metric->name,
          metric->kind == COUNTER || metric->kind == NANOSECONDS_COUNTER,
          metric->help);
    any = TRUE;
    append_sample (out, metric->name, stats_get_name (stats), rank, host,
        get_value (stats, metric));
  }
}

static void
append_process (
    GString *out, const Snapshot *snapshot, guint rank, const gchar *host)
{
  const struct {
    const gchar *name;
    gboolean counter;
    const gchar *help;
    double value;
  } all[] = {
    { "spdl_pulled_items_total", TRUE, "Items that left the pipeline.",
        snapshot->items },
    { "spdl_pulled_batches_total", TRUE, "Batches that left the pipeline.",
        snapshot->batches },
    { "spdl_elapsed_seconds", FALSE, "Time since the start.", snapshot->time },
    { "spdl_cores_busy", FALSE, "Cores that the process keeps busy.",
        snapshot->cores },
    { "spdl_memory_bytes", FALSE, "Resident memory of the process.",
        snapshot->memory },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    append_head (out, all[i].name, all[i].counter, all[i].help);
    append_sample (out, all[i].name, NULL, rank, host, all[i].value);
  }
}

gchar *
prometheus_format (const Snapshot *snapshot, guint rank, const gchar *host)
{
  GString *out = g_string_new (NULL);

  append_process (out, snapshot, rank, host);
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    append_metric (out, &metrics[i], snapshot, rank, host);
  return g_string_free (out, FALSE);
}
