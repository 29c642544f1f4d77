/* gst-spdl: suppression of a leak in GLib's initialization
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* GLib's constructor allocates a table for 2,048 quarks. When it is full, GLib
 * allocates another table and never frees the first, because it replaces the
 * table without a lock. The number of installed plugins determines whether that
 * happens. No exported function is on the allocation's stack, so a
 * suppression cannot name one. Therefore leak detection is disabled until the
 * constructors of all libraries have run. */

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
