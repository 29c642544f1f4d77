/* gst-spdl: threads that cannot be created, on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Covers all threads of a process whose program exports its symbols, also those
 * of GLib and GStreamer. */

/* Makes @count threads from the @n th from now on fail; 0: none. */
void failing_threads_let_fail (guint n, guint count);

/* Returns the number of threads that have failed since then. */
guint failing_threads_count (void);

G_END_DECLS
