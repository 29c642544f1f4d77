/* gst-spdl: suites whose tests read the log of GStreamer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>

G_BEGIN_DECLS

/* Runs the suite that @make returns, as GST_CHECK_MAIN does, while the log goes
 * to a temporary file. GStreamer leaks functions that are added to receive the
 * log. */
int
logged_run (int argc, char **argv, Suite *(*make) (void), const gchar *name);

/* Returns the log since the start, which must contain lines of spdlfetch. */
gchar *logged_dup_log (void);

G_END_DECLS
