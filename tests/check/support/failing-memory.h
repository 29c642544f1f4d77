/* gst-spdl: allocations that fail when a test wants it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Those by g_try_malloc() and its like. A program that is linked with
 * failing_memory_args has those of its own units. One that is compiled with
 * failing_memory_plugin_args, and exports its symbols, has those of all
 * libraries and plugins in the process. */

/* Lets the @n th of them fail, counted from now; 0: none. */
void failing_memory_let_fail (guint n);

/* Lets all of them fail that are of @size bytes or more; 0: none. */
void failing_memory_let_large_fail (gsize size);

/* How many there were. */
guint failing_memory_count (void);

G_END_DECLS
