/* gst-spdl-launch: statistics in the Prometheus text format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/prometheus.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_REQUEST 8192
#define TIMEOUT 5 /* s for a client that does not read or write */
#define MAX_CLIENTS 4

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

/* Server */

struct _Exporter {
  GSocketService *service;
  guint16 port;
  GMutex lock;
  gchar *text;
};

/* Reads a request up to its empty line. Returns NULL if there is none. */
static gchar *
read_request (GInputStream *in)
{
  GString *request = g_string_new (NULL);

  while (request->len < MAX_REQUEST) {
    gchar buffer[1024];
    const gssize n =
        g_input_stream_read (in, buffer, sizeof buffer, NULL, NULL);

    if (n <= 0)
      break;
    g_string_append_len (request, buffer, n);
    if (strstr (request->str, "\r\n\r\n"))
      return g_string_free (request, FALSE);
  }
  g_string_free (request, TRUE);
  return NULL;
}

static gchar *
make_answer (Exporter *self, const gchar *request)
{
  const gboolean get = g_str_has_prefix (request, "GET ");
  const gboolean known = get && (g_str_has_prefix (request, "GET /metrics ") ||
                                    g_str_has_prefix (request, "GET / "));
  const gchar *status = known ? "200 OK"
                        : get ? "404 Not Found"
                              : "405 Method Not Allowed";
  g_autofree gchar *body = NULL;

  g_mutex_lock (&self->lock);
  body = g_strdup (known ? self->text : "see /metrics\n");
  g_mutex_unlock (&self->lock);
  return g_strdup_printf (
      "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4\r\n"
      "Content-Length: %" G_GSIZE_FORMAT "\r\nConnection: close\r\n\r\n%s",
      status, strlen (body), body);
}

static gboolean
on_client (GThreadedSocketService *service, GSocketConnection *connection,
    GObject *source, gpointer user_data)
{
  GIOStream *stream = G_IO_STREAM (connection);
  g_autofree gchar *request = NULL;

  g_socket_set_timeout (g_socket_connection_get_socket (connection), TIMEOUT);
  request = read_request (g_io_stream_get_input_stream (stream));
  if (request) {
    g_autofree gchar *answer = make_answer (user_data, request);

    g_output_stream_write_all (g_io_stream_get_output_stream (stream), answer,
        strlen (answer), NULL, NULL, NULL);
  }
  g_io_stream_close (stream, NULL, NULL);
  return TRUE;
}

static void
clear_exporter (gpointer data)
{
  Exporter *self = data;

  g_free (self->text);
  g_mutex_clear (&self->lock);
}

static void
release_closure (gpointer data, GClosure *closure)
{
  g_atomic_rc_box_release_full (data, clear_exporter);
}

Exporter *
exporter_new (guint16 port, GError **error)
{
  Exporter *self = g_atomic_rc_box_new0 (Exporter);
  g_autoptr (GSocketAddress) address =
      g_inet_socket_address_new_from_string ("127.0.0.1", port);
  g_autoptr (GSocketAddress) effective = NULL;

  g_mutex_init (&self->lock);
  self->text = g_strdup ("");
  self->service = g_threaded_socket_service_new (MAX_CLIENTS);
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service),
          address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
          &effective, error)) {
    g_prefix_error (error, "port %u: ", port);
    exporter_free (self);
    return NULL;
  }
  self->port =
      g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (effective));
  /* A client's thread may outlive the owner of the exporter. */
  g_signal_connect_data (self->service, "run", G_CALLBACK (on_client),
      g_atomic_rc_box_acquire (self), release_closure, 0);
  g_socket_service_start (self->service);
  return self;
}

void
exporter_free (Exporter *self)
{
  g_signal_handlers_disconnect_by_data (self->service, self);
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  g_clear_object (&self->service);
  g_atomic_rc_box_release_full (self, clear_exporter);
}

guint16
exporter_get_port (Exporter *self)
{
  return self->port;
}

void
exporter_set_text (Exporter *self, gchar *text)
{
  g_mutex_lock (&self->lock);
  g_free (self->text);
  self->text = text;
  g_mutex_unlock (&self->lock);
}
