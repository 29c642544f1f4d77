/* gst-spdl-launch: text tables of statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

/* Formats a row per stage, progress, throughput, process statistics and the
 * verdict, in lines of at most @width columns.
 * @height: maximum number of lines, for which rows are omitted; 0: unlimited
 * @verdict: (out) (nullable): index of the first line of the verdict */
gchar *table_format (
    const Snapshot *snapshot, guint width, guint height, guint *verdict);

/* Formats the number of failures, in total and per stage, with the first failed
 * item of each and its error.
 * @failures: (element-type GstSpdlFailure): the first failures
 * Returns: (transfer full) (nullable): NULL if there are none */
gchar *table_format_failures (
    const Snapshot *snapshot, GPtrArray *failures, guint width);

/* Formats a summary in one line. */
gchar *table_format_line (const Snapshot *snapshot);

/* Wraps @text to lines of at most @width columns. */
gchar *text_wrap (const gchar *text, guint width);
/* Truncates @text with an ellipsis, or pads it, to exactly @width columns. */
gchar *text_fit (const gchar *text, guint width);
/* Draws a bar of @width columns, filled in proportion to @share. */
gchar *text_bar (double share, guint width);

G_END_DECLS
