/* gst-spdl-launch: terminal output during a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdio.h>

#include "tools/launch/run/session.h"
#include "tools/launch/run/snapshot.h"
#include "tools/launch/views/prometheus.h"

G_BEGIN_DECLS

/* Formats an `spdl-tuning` structure as a line.
 * Returns: (transfer full) */
gchar *tuning_format (const GstStructure *decision);

/* Returns: (transfer full) (nullable): the automatically chosen concurrencies
 * as options: "--set fetch.concurrency=24 --set ..." */
gchar *tuning_format_settings (const Snapshot *snapshot);

/* Output during a run: a table that is updated in place, or lines. */
typedef struct _Screen Screen;

/* @plain: print lines even if @out is a terminal
 * @exporter: (nullable): gets each snapshot, too */
Screen *screen_new (FILE *out, gboolean plain, Exporter *exporter);
void screen_free (Screen *self);

/* Returns whether a table is shown. */
gboolean screen_is_live (const Screen *self);

/* Callbacks for session_run(), with a Screen as @user_data. */
extern const SessionFuncs screen_funcs;

/* Replaces the table by the summary. */
void screen_finish (Screen *self, Session *session);

/* Returns the width of the terminal, else the environment variable COLUMNS,
 * else 80. */
guint screen_get_width (FILE *out);

G_END_DECLS
