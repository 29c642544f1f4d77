/* gst-spdl: end of Matroska files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns whether the file has the length that its header declares, if it
 * declares any. */
gboolean spdl_matroska_is_whole (const guint8 *data, gsize size);

G_END_DECLS
