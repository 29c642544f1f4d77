/* gst-spdl: HTTP server with latency, for benchmarks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Serves the files of a folder on loopback, with each response delayed by MS
 * milliseconds. It prints its port, and exits at the end of its standard input.
 *
 *     http-server FOLDER MS */

#include <stdio.h>
#include <stdlib.h>

#include "tests/benchmarks/fetch-run.h"

int
main (int argc, char **argv)
{
  if (argc != 3) {
    g_printerr ("usage: http-server FOLDER MS\n");
    return 2;
  }
  printf ("%u\n", fetch_run_start_server (atoi (argv[2]), FALSE, argv[1]));
  fflush (stdout);
  while (getchar () != EOF)
    ;
  return 0;
}
