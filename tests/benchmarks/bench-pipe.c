/* gst-spdl: benchmark of the overhead of spdlpipe per item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* CPU time per item of an spdlpipe that does nothing, minus that of identity,
 * compared with a stage that does nothing: at concurrency 4 and queue-size 16,
 * with buffers with item metas and with statistics.
 *
 *     bench-pipe [ITEMS [ROUNDS]]
 *
 * Each round measures all elements in turn. The medians of the differences per
 * round are printed, with their spread. */

#include <stdlib.h>

#include "tests/benchmarks/measure-element.h"

#define MAX_ROUNDS 100

static GstSample *
pass (GstElement *element, GstSample *sample, gpointer user_data)
{
  return gst_sample_ref (sample);
}

typedef struct {
  const gchar *name;
  const gchar *factory;
  const gchar *chain; /* NULL: a function, for spdlpipe */
  gboolean threaded;
} Kind;

static const Kind kinds[] = {
  { "the engine's stage", "spdlteststage", NULL, FALSE },
  { "chain=identity", "spdlpipe", "identity", FALSE },
  { "chain=identity, with task-timeout", "spdlpipe", "identity", TRUE },
  { "process in C", "spdlpipe", NULL, FALSE },
};

static double
measure_kind (const Kind *kind, guint64 n)
{
  GstElement *element = measure_make (kind->factory);

  g_object_set (element, "concurrency", 4, "queue-size", 16, NULL);
  if (kind->chain)
    g_object_set (element, "chain", kind->chain, NULL);
  else if (g_str_equal (kind->factory, "spdlpipe"))
    g_signal_connect (element, "process", G_CALLBACK (pass), NULL);
  if (kind->threaded)
    g_object_set (element, "task-timeout", 60 * GST_SECOND, NULL);
  return measure_element (element, n);
}

int
main (int argc, char **argv)
{
  double costs[G_N_ELEMENTS (kinds)][MAX_ROUNDS];

  gst_init (&argc, &argv);
  const guint64 n = argc > 1 ? g_ascii_strtoull (argv[1], NULL, 10) : 200000;
  const guint rounds = argc > 2 ? CLAMP (atoi (argv[2]), 1, MAX_ROUNDS) : 9;

  for (guint r = 0; r < rounds; r++) {
    const double base = measure_element (measure_make ("identity"), n);

    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      costs[k][r] = measure_kind (&kinds[k], n) - base;
  }
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    qsort (costs[k], rounds, sizeof costs[k][0], measure_compare);
    g_print ("%s: %.2f us (%.2f to %.2f)\n", kinds[k].name,
        costs[k][rounds / 2], costs[k][0], costs[k][rounds - 1]);
  }
  return 0;
}
