/* gst-spdl: reusable scratch memory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Ensures room for @n elements of @size bytes, without keeping the content.
 * Returns FALSE if memory cannot be allocated; the old memory is then freed as
 * well. */
static inline gboolean
spdl_scratch_grow (gpointer *memory, gsize *n_allocated, gsize n, gsize size)
{
  if (n <= *n_allocated)
    return TRUE;
  g_free (*memory);
  *memory = g_try_malloc_n (n, size);
  *n_allocated = *memory ? n : 0;
  return *memory != NULL;
}

G_END_DECLS
