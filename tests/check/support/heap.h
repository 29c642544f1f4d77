/* gst-spdl: how much memory the tests' heap has given out
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

/* Returns the bytes in use; 0 where the C library does not report them, so that
 * a test for growth always passes there. */
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
