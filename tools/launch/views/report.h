/* gst-spdl-launch: HTML report of a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

G_BEGIN_DECLS

/* Writes a page that needs nothing else: no script, no font, no image, and a
 * policy that forbids the browser to ask for any. */
gboolean report_write (
    Session *session, const gchar *file, const GError *failure, GError **error);

/* What every page begins and ends with. */
void report_append_head (GString *out);
void report_append_end (GString *out);

G_END_DECLS
