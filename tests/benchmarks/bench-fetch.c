/* gst-spdl: benchmark of parallel requests, compared with sequential ones
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Fetches images of 35 KB with one request at a time and with many, in turns,
 * and measures the time from PLAYING to EOS. The HTTP server runs on loopback
 * in another process, with a latency of 20 ms or LATENCY.
 *
 *     bench-fetch [ITEMS] [ROUNDS] [CONCURRENCY] [LATENCY in ms] */

#include <gst/gst.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/benchmarks/fetch-run.h"
#include "tests/benchmarks/measure-element.h"

#define ITEM_SIZE 35000

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

/* Returns the seconds from PLAYING to EOS. @cpu: (out): CPU time per item */
static double
run (const gchar *list, guint concurrency, guint n, double *cpu)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch name=fetch concurrency=%u ! "
      "fakesink sync=false",
      list, concurrency);

  return fetch_run (description, n, cpu);
}

int
main (int argc, char **argv)
{
  const guint n = argc > 1 ? atoi (argv[1]) : 1000;
  const guint n_rounds = argc > 2 ? atoi (argv[2]) : 3;
  const guint concurrency = argc > 3 ? atoi (argv[3]) : 16;
  const guint latency = argc > 4 ? atoi (argv[4]) : 20;
  g_autofree double *ratios = g_new (double, n_rounds);
  g_autofree gchar *list = NULL;
  const guint16 port = fetch_run_start_server (latency, FALSE, NULL);

  gst_init (&argc, &argv);
  list = write_list (port, n);
  printf ("%u items of %d bytes, %u ms of latency\n", n, ITEM_SIZE, latency);
  for (guint i = 0; i < n_rounds; i++) {
    double cpu_one, cpu_many;
    const double one = run (list, 1, n, &cpu_one);
    const double many = run (list, concurrency, n, &cpu_many);

    ratios[i] = one / many;
    printf (
        "at 1: %.2f s, %.0f us of CPU time per item; at %u: %.2f s, %.0f us; "
        "%.2f times as fast, %.2f times as long as the latency allows\n",
        one, cpu_one * 1e6, concurrency, many, cpu_many * 1e6, ratios[i],
        many / ((n + concurrency - 1) / concurrency * latency / 1e3));
    fflush (stdout);
  }
  qsort (ratios, n_rounds, sizeof *ratios, measure_compare);
  printf ("median: %.2f times as fast at %u as at 1\n", ratios[n_rounds / 2],
      concurrency);
  unlink (list);
  return 0;
}
