/* gst-spdl: runs of spdlfetch against a server with latency
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* Starts an HTTP server on loopback in a process of its own, which ends with
 * this one, and lets each request wait for @latency ms; before gst_init().
 *
 * @root: (nullable): of the files that it has
 *
 * Returns: its port */
guint16 fetch_run_start_server (guint latency, const gchar *root);

/* Runs a pipeline whose spdlfetch is named `fetch`; ends the program if not all
 * of @n items come.
 *
 * Returns: seconds from PLAYING to the end; CPU time an item in @cpu */
double fetch_run (const gchar *description, guint n, double *cpu);
