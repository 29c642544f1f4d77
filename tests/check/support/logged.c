/* gst-spdl: suites whose tests read the log of GStreamer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/logged.h"

#include <string.h>
#include <unistd.h>

static gchar *log_file;

int
logged_run (int argc, char **argv, Suite *(*make) (void), const gchar *name)
{
  const gint fd = g_file_open_tmp ("spdl-log-XXXXXX", &log_file, NULL);
  int failed;

  g_setenv ("GST_DEBUG_FILE", log_file, TRUE);
  gst_check_init (&argc, &argv);
  failed = gst_check_run_suite (make (), name, name);
  close (fd);
  unlink (log_file);
  g_free (log_file);
  return failed;
}

gchar *
logged_dup_log (void)
{
  gchar *log = NULL;

  fail_unless (g_file_get_contents (log_file, &log, NULL, NULL));
  fail_unless (strstr (log, "spdlfetch") != NULL);
  return log;
}
