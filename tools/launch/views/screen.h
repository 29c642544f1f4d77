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

G_BEGIN_DECLS

/* Returns: (transfer full): a `spdl-tuning` structure in a line */
gchar *tuning_format (const GstStructure *decision);

/* Returns: (transfer full) (nullable): the numbers that automatic stages have
 * come to, as options: "--set fetch.concurrency=24 --set ..." */
gchar *tuning_format_settings (const Snapshot *snapshot);

/* On a terminal a table that is drawn over itself; else lines. */
typedef struct _Screen Screen;

/* @plain: lines, though @out is a terminal. */
Screen *screen_new (FILE *out, gboolean plain);
void screen_free (Screen *self);

/* Whether there is a table. */
gboolean screen_is_live (const Screen *self);

/* For session_run(), with a Screen as the user's data. */
extern const SessionFuncs screen_funcs;

/* Writes the summary in place of the table. */
void screen_finish (Screen *self, Session *session);

/* Columns of the terminal, or of the variable COLUMNS, or 80. */
guint screen_get_width (FILE *out);

G_END_DECLS
