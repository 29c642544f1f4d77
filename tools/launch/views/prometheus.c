/* gst-spdl-launch: statistics in the Prometheus text format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/prometheus.h"

#include <string.h>

typedef struct {
  const gchar *name;
  const gchar *field; /* times become seconds */
  const gchar *help;
} Metric;

static const Metric metrics[] = {
  { "spdl_tasks_total", "num-tasks", "Finished tasks." },
  { "spdl_items_total", "num-items", "Items received." },
  { "spdl_batches_total", "num-batches", "Batches sent." },
  { "spdl_cached_batches_total", "num-cached", "Batches sent from the cache." },
  { "spdl_failures_total", "num-failures", "Failed items." },
  { "spdl_filtered_total", "num-filtered", "Items without a result." },
  { "spdl_in_bytes_total", "bytes-in", "Bytes received." },
  { "spdl_out_bytes_total", "bytes-out", "Bytes sent." },
  { "spdl_cache_hits_total", "cache-hits", "Items found in the disk cache." },
  { "spdl_cache_misses_total", "cache-misses",
      "Items not found in the disk cache." },
  { "spdl_cache_bytes_total", "cache-bytes",
      "Bytes read from the disk cache." },
  { "spdl_cache_errors_total", "cache-errors",
      "Items that could not be stored in the disk cache." },
  { "spdl_cpu_seconds_total", "cpu-time", "CPU time of the workers." },
  { "spdl_task_mean_seconds", "ave-time", "Mean task time since the start." },
  { "spdl_task_p90_seconds", "p90-time", "90th percentile of the task times." },
  { "spdl_task_p99_seconds", "p99-time", "99th percentile of the task times." },
  { "spdl_put_mean_seconds", "ave-put-time",
      "Mean time that upstream waited for room in the queue." },
  { "spdl_get_mean_seconds", "ave-get-time",
      "Mean time that workers, or the trainer, waited for input." },
  { "spdl_step_mean_seconds", "ave-step-time", "Mean training step time." },
  { "spdl_step_p50_seconds", "p50-step-time", "Median training step time." },
  { "spdl_step_p99_seconds", "p99-step-time",
      "99th percentile of the training step times." },
  { "spdl_latency_mean_seconds", "ave-latency",
      "Mean age of an item when it is pulled." },
  { "spdl_occupancy_ratio", "occupancy-rate",
      "Share of the time in which the input queue was not empty." },
  { "spdl_push_ratio", "push-rate",
      "Share of the time in which the stage was sending results." },
  { "spdl_concurrency", "concurrency", "Tasks that may run at the same time." },
  { "spdl_queue_size", "queue-size", "Tasks that may wait." },
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
append_head (GString *out, const gchar *name, const gchar *help)
{
  g_string_append_printf (out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
      g_str_has_suffix (name, "_total") ? "counter" : "gauge");
}

static void
append_sample (GString *out, const gchar *name, const gchar *stage, guint rank,
    const gchar *host, double value)
{
  g_string_append_printf (out, "%s{", name);
  if (stage) {
    append_label (out, "stage", stage);
    g_string_append_c (out, ',');
  }
  g_string_append_printf (out, "rank=\"%u\",", rank);
  append_label (out, "host", host);
  g_string_append_printf (out, "} %.12g\n", value);
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
      append_head (out, metric->name, metric->help);
    any = TRUE;
    append_sample (out, metric->name, stats_get_name (stats), rank, host,
        stats_get_number (stats, metric->field));
  }
}

static void
append_process (
    GString *out, const Snapshot *snapshot, guint rank, const gchar *host)
{
  const struct {
    const gchar *name;
    const gchar *help;
    double value;
  } all[] = {
    { "spdl_pulled_items_total", "Items that left the pipeline.",
        snapshot->items },
    { "spdl_pulled_batches_total", "Batches that left the pipeline.",
        snapshot->batches },
    { "spdl_elapsed_seconds", "Time since the start.", snapshot->time },
    { "spdl_cores_busy", "Cores that the process keeps busy.",
        snapshot->cores },
    { "spdl_memory_bytes", "Resident memory of the process.",
        snapshot->memory },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    append_head (out, all[i].name, all[i].help);
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
