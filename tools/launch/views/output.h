/* gst-spdl-launch: output files and streams
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Checks before a run that output_write() is likely to succeed after it. */
gboolean output_check (const gchar *file, GError **error);

/* Writes a file atomically. "-" is stdout. */
gboolean output_write (const gchar *file, const gchar *text, GError **error);

gboolean output_is_stdout (const gchar *file);

G_END_DECLS
