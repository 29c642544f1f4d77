/* gst-spdl: runs of spdlfetch against a server with latency
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/benchmarks/fetch-run.h"

#include <gst/gst.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/benchmarks/cpu-seconds.h"
#include "tests/check/support/server.h"

/* Runs the server until its parent exits. It writes its port to @out. */
static G_GNUC_NORETURN void
serve (int out, guint latency, gboolean tls, const gchar *root)
{
  Server *server = server_new (tls);
  const guint16 port = server_get_port (server);

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (root)
    server_set_root (server, root);
  server_set_latency (server, latency);
  if (write (out, &port, sizeof port) != sizeof port)
    exit (1);
  while (TRUE)
    pause ();
}

guint16
fetch_run_start_server (guint latency, gboolean tls, const gchar *root)
{
  guint16 port;
  int ends[2];

  if (pipe (ends) != 0)
    exit (1);
  if (fork () == 0)
    serve (ends[1], latency, tls, root);
  if (read (ends[0], &port, sizeof port) != sizeof port)
    exit (1);
  return port;
}

double
fetch_run (const gchar *description, guint n, double *cpu)
{
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstElement *fetch = gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
  const double cpu_begun = cpu_seconds ();
  const gint64 begun = g_get_monotonic_time ();
  GstStructure *stats;
  GstMessage *message;
  guint64 n_items = 0, n_failures = 1;
  double took;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  took = (g_get_monotonic_time () - begun) / 1e6;
  *cpu = (cpu_seconds () - cpu_begun) / n;
  g_object_get (fetch, "stage-stats", &stats, NULL);
  gst_structure_get (stats, "num-items", G_TYPE_UINT64, &n_items,
      "num-failures", G_TYPE_UINT64, &n_failures, NULL);
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS || n_items != n ||
      n_failures > 0)
    g_error ("not all items came");
  gst_structure_free (stats);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (fetch);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return took;
}
