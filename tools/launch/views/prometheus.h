/* gst-spdl-launch: statistics in Prometheus' format
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

/* @snapshot: with figures since the start. In Prometheus's text format, with
 * rank and host as labels. */
gchar *
prometheus_format (const Snapshot *snapshot, guint rank, const gchar *host);

/* Serves the last text that it was given, on 127.0.0.1 alone. */
typedef struct _Exporter Exporter;

/* @port: 0 for any that is free. */
Exporter *exporter_new (guint16 port, GError **error);
void exporter_free (Exporter *self);

guint16 exporter_get_port (Exporter *self);
/* @text: (transfer full) */
void exporter_set_text (Exporter *self, gchar *text);

G_END_DECLS
