/* gst-spdl: GLib's table of names, for LeakSanitizer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib.h>

/* GCC has the function, but not the header that declares it. */
int __sanitizer_install_malloc_and_free_hooks (
    void (*on_malloc) (const volatile void *, size_t),
    void (*on_free) (const volatile void *));

/* GLib has an array of the names of its quarks, which it replaces when there
 * are too many of them, and never frees: others may be reading it. That is a
 * leak, in every program on a machine with enough plugins. The first array,
 * which GLib makes before main(), is kept here, so that it does not count; its
 * stack trace would not tell it from others. */

#define FIRST_ARRAY (2048 * sizeof (gchar *))

static const volatile void *kept[16];
static guint n_kept;

static void
on_malloc (const volatile void *memory, size_t size)
{
  if (size == FIRST_ARRAY && n_kept < G_N_ELEMENTS (kept))
    kept[n_kept++] = memory;
}

static void
on_free (const volatile void *memory)
{
}

static void
watch (void)
{
  __sanitizer_install_malloc_and_free_hooks (on_malloc, on_free);
}

/* Before the constructors of libraries. */
__attribute__ ((section (".preinit_array"), used)) static void (*before_all) (
    void) = watch;

/* And no longer than up to main(). */
__attribute__ ((constructor)) static void
end (void)
{
  n_kept = G_N_ELEMENTS (kept);
}
