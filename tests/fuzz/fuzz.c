/* gst-spdl: what fuzz targets are made of
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fuzz.h"

#include <gst/gst.h>

/* Allocations that may fail, by the linker's --wrap. */

static guint countdown;

gpointer __real_g_try_malloc (gsize n);
gpointer __real_g_try_malloc0 (gsize n);
gpointer __real_g_try_malloc_n (gsize n, gsize size);
gpointer __wrap_g_try_malloc (gsize n);
gpointer __wrap_g_try_malloc0 (gsize n);
gpointer __wrap_g_try_malloc_n (gsize n, gsize size);

static gboolean
fails (void)
{
  return countdown > 0 && --countdown == 0;
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
fuzz_let_fail (guint n)
{
  countdown = n;
}

void
fuzz_init (void)
{
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  g_log_set_always_fatal (
      G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
}

void
fuzz_check_error (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}
