/* gst-spdl-launch: HTML report of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Writes a self-contained page without scripts, fonts or images, with a content
 * security policy that forbids loading any. */
gboolean report_write (
    Session *session, const gchar *file, const GError *failure, GError **error);

/* Append the parts of a page.
 * @note: (nullable) */
void report_append_head (GString *out, const gchar *title, const gchar *note,
    const gchar *description);
void
report_append_heading (GString *out, const gchar *title, const gchar *text);
/* @settings: (nullable): options to try */
void report_append_verdict (GString *out, const gchar *sentence,
    const gchar *settings, const gchar *note);
void report_append_end (GString *out);

G_END_DECLS
