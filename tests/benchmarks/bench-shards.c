/* gst-spdl: benchmark of shuffled samples in shards, and of coalesced requests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Reads 64 shards from an HTTP server in order, shuffled, and in order with 16
 * samples per request, in turns, and measures the time from PLAYING to EOS. The
 * server runs on loopback in another process, with a latency of 20 ms. The
 * indexes are cached.
 *
 *     bench-shards [SAMPLES-A-SHARD] [ROUNDS] [CONCURRENCY] */

#include <gst/gst.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/benchmarks/fetch-run.h"
#include "tests/benchmarks/measure-element.h"
#include "tests/check/support/files.h"
#include "tests/check/support/tars.h"

#define N_SHARDS 64
#define SAMPLE_SIZE 35000
#define LATENCY_MS 20
#define GROUP 16

typedef struct {
  const gchar *name;
  const gchar *source;
  const gchar *group; /* elements before spdlfetch */
  const gchar *fetch;
  guint factor; /* multiple of the concurrency */
  GArray *times;
  GArray *cpu;
} Way;

#define SHUFFLED 1

static Way ways[] = {
  { "in order", "", "", "", 1 },
  { "shuffled", "shuffle=true", "", "", 1 },
  { "joined", "", "! spdlaggregate size=16", "coalesce=65536", 1 },
  { "joined, as many requests", "", "! spdlaggregate size=16", "coalesce=65536",
      GROUP },
};

static void
write_shards (const gchar *folder, guint n)
{
  for (guint i = 0; i < N_SHARDS; i++) {
    g_autofree gchar *name = g_strdup_printf ("train-%04u.tar", i);

    tar_write_shard (folder, name, i * n, n, SAMPLE_SIZE);
  }
}

/* Returns the seconds from PLAYING to EOS. @cpu: (out): CPU time per item */
static double
run (guint16 port, const Way *way, guint concurrency, guint n, double *cpu)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=\"http://127.0.0.1:%u/shard/0/0/train-{0000..0063}.tar"
      "\" index-cache=always %s %s ! spdlfetch name=fetch queue-size=16 "
      "concurrency=%u %s ! fakesink sync=false",
      port, way->source, way->group, concurrency * way->factor, way->fetch);

  return fetch_run (description, n, cpu);
}

static double
median (const GArray *numbers)
{
  g_autofree double *sorted =
      g_memdup2 (numbers->data, numbers->len * sizeof (double));

  qsort (sorted, numbers->len, sizeof (double), measure_compare);
  return sorted[numbers->len / 2];
}

/* Returns the median over the rounds of the ratio to the first way. */
static double
ratio (const GArray *numbers, const GArray *first)
{
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < numbers->len; i++) {
    const double one =
        g_array_index (numbers, double, i) / g_array_index (first, double, i);

    g_array_append_val (ratios, one);
  }
  return median (ratios);
}

static void
run_round (guint16 port, guint concurrency, guint n)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    double cpu;
    const double took = run (port, &ways[i], concurrency, n, &cpu);

    g_array_append_val (ways[i].times, took);
    g_array_append_val (ways[i].cpu, cpu);
  }
}

static void
print_results (guint n)
{
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    printf (
        "%-24s %6.2f s, %5.0f items per second, %3.0f us of CPU time per item; "
        "%.2f times the time%s, %.2f times the CPU time of in order\n",
        ways[i].name, median (ways[i].times), n / median (ways[i].times),
        median (ways[i].cpu) * 1e6, ratio (ways[i].times, ways[0].times),
        i == SHUFFLED ? " (limit 1.30)" : "", ratio (ways[i].cpu, ways[0].cpu));
}

int
main (int argc, char **argv)
{
  const guint n_each = argc > 1 ? atoi (argv[1]) : 32;
  const guint n_rounds = argc > 2 ? atoi (argv[2]) : 5;
  const guint concurrency = argc > 3 ? atoi (argv[3]) : 32;
  const guint n = N_SHARDS * n_each;
  gchar *folder = files_make_folder ();
  gchar *cache = files_make_folder ();
  double cpu;
  guint16 port;

  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  write_shards (folder, n_each);
  port = fetch_run_start_server (LATENCY_MS, FALSE, folder);
  gst_init (&argc, &argv);
  printf ("%u samples of %d bytes in %d shards, %d ms of latency, concurrency "
          "%u\n",
      n, SAMPLE_SIZE, N_SHARDS, LATENCY_MS, concurrency);
  printf ("indexed, then read: %.2f s\n",
      run (port, &ways[0], concurrency, n, &cpu));
  fflush (stdout);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    ways[i].times = g_array_new (FALSE, FALSE, sizeof (double));
    ways[i].cpu = g_array_new (FALSE, FALSE, sizeof (double));
  }
  for (guint i = 0; i < n_rounds; i++)
    run_round (port, concurrency, n);
  print_results (n);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_array_unref (ways[i].times);
    g_array_unref (ways[i].cpu);
  }
  files_remove_folder (folder);
  files_remove_folder (cache);
  return 0;
}
