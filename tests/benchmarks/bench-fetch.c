/* gst-spdl: how much faster many requests at a time are than one
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Fetches images of 35 KB from an HTTP server on loopback, in a process of its
 * own, that lets each of them wait for 20 ms, from PLAYING to the end of the
 * stream: with one request at a time and with many, in turns.
 *
 *     bench-fetch [ITEMS] [ROUNDS] [CONCURRENCY]
 */

#include <gst/gst.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check/elements/server.h"
#include "cpu-seconds.h"

#define ITEM_SIZE 35000
#define LATENCY_MS 20

/* Runs the server until its parent ends; its port goes into @out. */
static G_GNUC_NORETURN void
serve (int out)
{
  Server *server = server_new (FALSE);
  const guint16 port = server_get_port (server);

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  server_set_latency (server, LATENCY_MS);
  if (write (out, &port, sizeof port) != sizeof port)
    exit (1);
  while (TRUE)
    pause ();
}

static gchar *
write_list (guint16 port, guint n)
{
  GString *text = g_string_new (NULL);
  gchar *path;
  const int fd = g_file_open_tmp ("bench-fetch-XXXXXX.txt", &path, NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (
        text, "http://127.0.0.1:%u/bytes/0/%d/%u\n", port, ITEM_SIZE, i);
  if (fd < 0 || write (fd, text->str, text->len) != (gssize) text->len)
    g_error ("no list can be written");
  close (fd);
  g_string_free (text, TRUE);
  return path;
}

/* Seconds from PLAYING to the end; CPU time an item in @cpu. */
static double
run (const gchar *list, guint concurrency, guint n, double *cpu)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch name=fetch concurrency=%u ! "
      "fakesink sync=false",
      list, concurrency);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstElement *fetch = gst_bin_get_by_name (GST_BIN (pipeline), "fetch");
  const gint64 begun = g_get_monotonic_time ();
  const double cpu_begun = cpu_seconds ();
  GstStructure *stats;
  GstMessage *message;
  guint64 n_tasks = 0, n_failures = 1;
  double took;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  took = (g_get_monotonic_time () - begun) / 1e6;
  *cpu = (cpu_seconds () - cpu_begun) / n;
  g_object_get (fetch, "stage-stats", &stats, NULL);
  gst_structure_get (stats, "num-tasks", G_TYPE_UINT64, &n_tasks,
      "num-failures", G_TYPE_UINT64, &n_failures, NULL);
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS || n_tasks != n ||
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

static int
compare (const void *a, const void *b)
{
  return *(const double *) a < *(const double *) b ? -1 : 1;
}

int
main (int argc, char **argv)
{
  const guint n = argc > 1 ? atoi (argv[1]) : 1000;
  const guint n_rounds = argc > 2 ? atoi (argv[2]) : 3;
  const guint concurrency = argc > 3 ? atoi (argv[3]) : 16;
  g_autofree double *ratios = g_new (double, n_rounds);
  g_autofree gchar *list = NULL;
  guint16 port;
  int ends[2];

  if (pipe (ends) != 0)
    return 1;
  if (fork () == 0)
    serve (ends[1]);
  if (read (ends[0], &port, sizeof port) != sizeof port)
    return 1;
  gst_init (&argc, &argv);
  list = write_list (port, n);
  printf ("%u items of %d bytes, %d ms of latency\n", n, ITEM_SIZE, LATENCY_MS);
  for (guint i = 0; i < n_rounds; i++) {
    double cpu_one, cpu_many;
    const double one = run (list, 1, n, &cpu_one);
    const double many = run (list, concurrency, n, &cpu_many);

    ratios[i] = one / many;
    printf ("at 1: %.2f s, %.0f us of CPU an item; at %u: %.2f s, %.0f us; "
            "%.2f times as fast\n",
        one, cpu_one * 1e6, concurrency, many, cpu_many * 1e6, ratios[i]);
    fflush (stdout);
  }
  qsort (ratios, n_rounds, sizeof *ratios, compare);
  printf ("median: %.2f times as fast at %u as at 1\n", ratios[n_rounds / 2],
      concurrency);
  unlink (list);
  return 0;
}
