/* gst-spdl: benchmark of the engine's overhead per item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* CPU time per item of a stage that does nothing, minus that of identity, at
 * concurrency 4, with ungrouped buffers with item metas and with statistics.
 *
 *     bench-engine [ITEMS [ROUNDS]]
 *
 * Each round measures identity and then the stage with each queue size. The
 * medians of the differences per round are printed, with their spread. */

#include <stdlib.h>

#include "tests/benchmarks/measure-element.h"

#define CONCURRENCY 4
#define MAX_ROUNDS 100

int
main (int argc, char **argv)
{
  static const guint queue_sizes[] = { 2, 16, 64 };
  double costs[G_N_ELEMENTS (queue_sizes)][MAX_ROUNDS], base[MAX_ROUNDS];

  gst_init (&argc, &argv);
  const guint64 n = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 1000000;
  const guint rounds = argc > 2 ? CLAMP (atoi (argv[2]), 1, MAX_ROUNDS) : 5;

  for (guint r = 0; r < rounds; r++) {
    base[r] = measure_element (measure_make ("identity"), n);
    for (guint q = 0; q < G_N_ELEMENTS (queue_sizes); q++) {
      GstElement *stage = measure_make ("spdlteststage");

      g_object_set (stage, "concurrency", CONCURRENCY, "queue-size",
          queue_sizes[q], NULL);
      costs[q][r] = measure_element (stage, n) - base[r];
    }
  }

  qsort (base, rounds, sizeof base[0], measure_compare);
  g_print ("%" G_GUINT64_FORMAT
           " items, %u rounds, concurrency %d; CPU time an "
           "item\nidentity: %.2f us\n",
      n, rounds, CONCURRENCY, base[rounds / 2]);
  for (guint q = 0; q < G_N_ELEMENTS (queue_sizes); q++) {
    qsort (costs[q], rounds, sizeof costs[q][0], measure_compare);
    g_print ("stage - identity at queue-size %2u: %.2f us (%.2f to %.2f)\n",
        queue_sizes[q], costs[q][rounds / 2], costs[q][0],
        costs[q][rounds - 1]);
  }
  return 0;
}
