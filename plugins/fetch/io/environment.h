/* gst-spdl: variables of the environment
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the value of a variable; NULL if it is not set, or empty. */
static inline const gchar *
spdl_environment_get (const gchar *name)
{
  const gchar *value = g_getenv (name);

  return value && *value ? value : NULL;
}

G_END_DECLS
