/* gst-spdl: command-line signer of requests for tests/python/sigv4_reference.py
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <string.h>

#include "tests/check/support/signed-line.h"

/* Writes the value of Authorization for each line of standard input. */
int
main (void)
{
  char line[16384];

  while (fgets (line, sizeof line, stdin)) {
    g_autofree gchar *text = NULL;

    line[strcspn (line, "\n")] = '\0';
    text = signed_line (line);
    if (!text) {
      fprintf (
          stderr, "Line without %d fields: %s\n", SIGNED_LINE_FIELDS, line);
      return 1;
    }
    puts (text);
  }
  return 0;
}
