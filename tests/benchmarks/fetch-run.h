/* gst-spdl: runs of spdlfetch against a server with latency
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* Starts an HTTP server on loopback in a child process, which exits with this
 * one. Each response is delayed by @latency ms. With @tls it is an HTTPS server,
 * with the certificate of server_get_certificate(). Must be called before
 * gst_init(). @root: (nullable): the folder to serve. Returns: its port */
guint16 fetch_run_start_server (guint latency, gboolean tls, const gchar *root);

/* Runs a pipeline whose spdlfetch is named `fetch`, and exits unless all @n
 * items come. @cpu: (out): CPU time per item. Returns: seconds from PLAYING to
 * EOS */
double fetch_run (const gchar *description, guint n, double *cpu);
