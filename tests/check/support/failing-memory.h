/* gst-spdl: allocation failures on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Covers g_try_malloc() and similar functions. A program that is linked with
 * failing_memory_args covers the calls in its own units. One that is compiled
 * with failing_memory_plugin_args, and exports its symbols, covers all
 * libraries and plugins in the process. */

/* Makes the @n th allocation from now fail; 0: none. */
void failing_memory_let_fail (guint n);

/* Makes all allocations of @size bytes or more fail; 0: none. */
void failing_memory_let_large_fail (gsize size);

/* Returns the number of allocations so far. */
guint failing_memory_count (void);

G_END_DECLS
