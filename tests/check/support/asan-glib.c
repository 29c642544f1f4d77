/* gst-spdl: what GLib allocates when it is loaded is no leak
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* GLib's table of quarks begins with 2,048 places, from its constructor. When
 * they are full it takes another table and, since it does so without a lock,
 * never frees the first. Whether that happens depends on how many plugins are
 * installed. No name of a function on that stack is exported that a
 * suppression could name; so leaks are not looked for from before the
 * constructors of libraries until after them. */

#include <glib.h>

#include <sanitizer/lsan_interface.h>

static void
before_libraries (void)
{
  __lsan_disable ();
}

__attribute__ ((section (".preinit_array"),
    used)) static void (*const preinit) (void) = before_libraries;

__attribute__ ((constructor)) static void
after_libraries (void)
{
  __lsan_enable ();
}
