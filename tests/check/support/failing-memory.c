/* gst-spdl: allocation failures on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/failing-memory.h"

#include <gmodule.h>

static gint n_allocations; /* atomic */
static gint failing;       /* atomic: number of the allocation that fails */
static gsize large = G_MAXSSIZE; /* atomic */

#ifdef FAILING_MEMORY_IN_PLUGINS
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

/* Symbols that the program exports take precedence over those of libraries, for
 * all callers. */
#define OURS(name) G_MODULE_EXPORT name
#define THEIRS(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))
#else
/* Uses the linker's option --wrap. */
#define OURS(name) G_MODULE_EXPORT __wrap_##name
#define THEIRS(name) __real_##name

gpointer __real_g_try_malloc (gsize n);
gpointer __real_g_try_malloc0 (gsize n);
gpointer __real_g_try_malloc_n (gsize n, gsize size);
gpointer __real_g_try_realloc (gpointer memory, gsize n);
/* Exported, because libraries may call them as well. */
gpointer __wrap_g_try_malloc (gsize n);
gpointer __wrap_g_try_malloc0 (gsize n);
gpointer __wrap_g_try_malloc_n (gsize n, gsize size);
gpointer __wrap_g_try_realloc (gpointer memory, gsize n);
#endif

static gboolean
fails (gsize n, gsize size)
{
  const gint number = g_atomic_int_add (&n_allocations, 1) + 1;
  const gsize limit = (gsize) g_atomic_pointer_get (&large);

  return number == g_atomic_int_get (&failing) ||
         (size > 0 && n >= limit / size + (limit % size > 0));
}

gpointer
OURS (g_try_malloc) (gsize n)
{
  return fails (n, 1) ? NULL : THEIRS (g_try_malloc) (n);
}

gpointer
OURS (g_try_malloc0) (gsize n)
{
  return fails (n, 1) ? NULL : THEIRS (g_try_malloc0) (n);
}

gpointer
OURS (g_try_malloc_n) (gsize n, gsize size)
{
  return fails (n, size) ? NULL : THEIRS (g_try_malloc_n) (n, size);
}

gpointer
OURS (g_try_realloc) (gpointer memory, gsize n)
{
  return fails (n, 1) ? NULL : THEIRS (g_try_realloc) (memory, n);
}

#ifdef FAILING_MEMORY_IN_PLUGINS
/* Of FFmpeg's libraries. GLib's slices are small. */
int
OURS (posix_memalign) (void **memory, size_t alignment, size_t n)
{
  return n >= (gsize) g_atomic_pointer_get (&large)
             ? ENOMEM
             : THEIRS (posix_memalign) (memory, alignment, n);
}
#endif

void
failing_memory_let_fail (guint n)
{
  g_atomic_int_set (
      &failing, n > 0 ? g_atomic_int_get (&n_allocations) + (gint) n : 0);
}

void
failing_memory_let_large_fail (gsize size)
{
  g_atomic_pointer_set (&large, size > 0 ? size : G_MAXSSIZE);
}

guint
failing_memory_count (void)
{
  return g_atomic_int_get (&n_allocations);
}
