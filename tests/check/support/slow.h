/* gst-spdl: slow mode of the tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

/* Returns @slow if SPDL_TEST_SLOW asks for the slow mode, otherwise @normal. */
static inline guint64
spdl_test_slow_or (guint64 slow, guint64 normal)
{
  const gchar *mode = g_getenv ("SPDL_TEST_SLOW");

  return mode && *mode ? slow : normal;
}
