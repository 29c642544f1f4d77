/* gst-spdl: what of the environment a worker process gets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of @all, those variables that the list in environment.c names, and
 * docs/interface.md after it.
 *
 * @rank, @world_size: if they are not negative, RANK and WORLD_SIZE, in place
 *     of those of any scheduler
 *
 * Returns: (transfer full) */
GStrv
spdl_environment_select (const gchar *const *all, gint rank, gint world_size);

G_END_DECLS
