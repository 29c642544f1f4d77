/* gst-spdl: overhead of an element per item, as the slope over the number of
 * items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* CPU time in us per item of an element, with its output consumed in C. It is
 * the difference between a run of all items and one of a tenth of them, so that
 * start and stop cancel out. It includes the cost of pushing a buffer with an
 * item meta.
 *
 *     tiny-cost 'ELEMENT PROPERTY=VALUE ...' ITEMS */

#include <stdlib.h>

#include "tests/benchmarks/measure-element.h"

static GstElement *
make (const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GstElement *element = gst_parse_launch (description, &error);

  if (error) {
    g_printerr ("tiny-cost: %s\n", error->message);
    exit (1);
  }
  return element;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc != 3) {
    g_printerr ("usage: tiny-cost ELEMENT ITEMS\n");
    return 2;
  }
  const guint64 n = MAX (g_ascii_strtoull (argv[2], NULL, 10), 10),
                few = n / 10;

  measure_element (make (argv[1]), few);
  const double start = measure_element (make (argv[1]), few) * few;
  const double all = measure_element (make (argv[1]), n) * n;
  g_print ("%.4f\n", (all - start) / (n - few));
  return 0;
}
