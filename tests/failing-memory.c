/* gst-spdl: allocations that fail when a test wants it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "failing-memory.h"

#include <gmodule.h>

/* By the linker's --wrap. */

static guint n_allocations;
static guint failing; /* the number of the one that does; 0: none */

gpointer __real_g_try_malloc (gsize n);
gpointer __real_g_try_malloc0 (gsize n);
gpointer __real_g_try_malloc_n (gsize n, gsize size);
/* Libraries may ask for them, too, which wants them to be seen. */
G_MODULE_EXPORT gpointer __wrap_g_try_malloc (gsize n);
G_MODULE_EXPORT gpointer __wrap_g_try_malloc0 (gsize n);
G_MODULE_EXPORT gpointer __wrap_g_try_malloc_n (gsize n, gsize size);

static gboolean
fails (void)
{
  return ++n_allocations == failing;
}

gpointer
__wrap_g_try_malloc (gsize n)
{
  return fails () ? NULL : __real_g_try_malloc (n);
}

gpointer
__wrap_g_try_malloc0 (gsize n)
{
  return fails () ? NULL : __real_g_try_malloc0 (n);
}

gpointer
__wrap_g_try_malloc_n (gsize n, gsize size)
{
  return fails () ? NULL : __real_g_try_malloc_n (n, size);
}

void
failing_memory_let_fail (guint n)
{
  failing = n > 0 ? n_allocations + n : 0;
}

guint
failing_memory_count (void)
{
  return n_allocations;
}
