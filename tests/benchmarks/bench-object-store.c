/* gst-spdl: CPU time of signed requests to an object store
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Fetches the same images of 35 KB from the same server on loopback as s3://
 * and as http://, in turns, and compares the CPU time of a request.
 *
 *     bench-object-store [ITEMS] [ROUNDS] [CONCURRENCY]
 */

#include <gst/gst.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/benchmarks/fetch-run.h"
#include "tests/benchmarks/measure-element.h"

#define ITEM_SIZE 35000

static gchar *
write_list (const gchar *begin, guint n)
{
  GString *text = g_string_new (NULL);
  gchar *path;
  const int fd = g_file_open_tmp ("bench-store-XXXXXX.txt", &path, NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s/0/%d/%u\n", begin, ITEM_SIZE, i);
  if (fd < 0 || write (fd, text->str, text->len) != (gssize) text->len)
    g_error ("no list can be written");
  close (fd);
  g_string_free (text, TRUE);
  return path;
}

/* CPU time of an item in s. */
static double
run (const gchar *list, guint concurrency, guint n)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s ! spdlfetch name=fetch concurrency=%u ! "
      "fakesink sync=false",
      list, concurrency);
  double cpu;

  fetch_run (description, n, &cpu);
  return cpu;
}

int
main (int argc, char **argv)
{
  const guint n = argc > 1 ? atoi (argv[1]) : 4000;
  const guint n_rounds = argc > 2 ? atoi (argv[2]) : 7;
  const guint concurrency = argc > 3 ? atoi (argv[3]) : 16;
  g_autofree double *ratios = g_new (double, n_rounds);
  const guint16 port = fetch_run_start_server (0, FALSE, NULL);
  g_autofree gchar *server = g_strdup_printf ("http://127.0.0.1:%u", port);
  g_autofree gchar *url = g_strconcat (server, "/bytes", NULL);
  g_autofree gchar *plain = NULL, *stored = NULL;

  g_setenv ("AWS_ENDPOINT_URL_S3", server, TRUE);
  g_setenv ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", TRUE);
  g_setenv ("AWS_SECRET_ACCESS_KEY", "not-a-secret", TRUE);
  gst_init (&argc, &argv);
  plain = write_list (url, n);
  stored = write_list ("s3://bytes", n);
  run (plain, concurrency, n);
  for (guint i = 0; i < n_rounds; i++) {
    const double http = run (plain, concurrency, n);
    const double s3 = run (stored, concurrency, n);

    ratios[i] = s3 / http;
    printf ("http: %.1f us of CPU time per request; s3: %.1f us; ratio %.3f\n",
        http * 1e6, s3 * 1e6, ratios[i]);
    fflush (stdout);
  }
  qsort (ratios, n_rounds, sizeof *ratios, measure_compare);
  printf ("median: %.3f of the CPU time of http\n", ratios[n_rounds / 2]);
  unlink (plain);
  unlink (stored);
  return 0;
}
