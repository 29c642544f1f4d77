/* gst-spdl-launch: statistics in the Prometheus text format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

/* Formats the statistics, with rank and host as labels.
 * @snapshot: statistics since the start */
gchar *
prometheus_format (const Snapshot *snapshot, guint rank, const gchar *host);

/* HTTP server that serves the current text on 127.0.0.1. */
typedef struct _Exporter Exporter;

/* @port: 0: any free port */
Exporter *exporter_new (guint16 port, GError **error);
void exporter_free (Exporter *self);

guint16 exporter_get_port (Exporter *self);
/* @text: (transfer full) */
void exporter_set_text (Exporter *self, gchar *text);

G_END_DECLS
