/* gst-spdl-launch: text tables of statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/snapshot.h"

G_BEGIN_DECLS

/* A row a stage, then progress, throughput, the process and the verdict, in
 * lines of at most @width columns. @height: (0: any) lines that there is room
 * for; rows are left out then. @verdict: (out) (nullable): the first line of
 * the verdict, from 0. */
gchar *table_format (
    const Snapshot *snapshot, guint width, guint height, guint *verdict);

/* What failed, in all and by stage, with the first item of each and why.
 * @failures: (element-type GstStructure): the first ones. NULL: nothing did. */
gchar *table_format_failures (
    const Snapshot *snapshot, GPtrArray *failures, guint width);

/* One line that says the most important of it. */
gchar *table_format_line (const Snapshot *snapshot);

/* @text in lines of at most @width columns, broken between words. */
gchar *text_wrap (const gchar *text, guint width);
/* @text in exactly @width columns: cut off with an ellipsis, or padded. */
gchar *text_fit (const gchar *text, guint width);
/* A bar of @width columns, of which a share is filled. */
gchar *text_bar (double share, guint width);

G_END_DECLS
