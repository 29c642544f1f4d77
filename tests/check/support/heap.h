/* gst-spdl: heap usage of tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Returns the bytes in use, or 0 if the C library does not report them; a test
 * for growth then always passes. */
static inline gsize
heap_get_bytes_in_use (void)
{
#ifdef __GLIBC__
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}
