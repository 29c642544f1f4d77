/* gst-spdl: streams and end of Ogg files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns whether one of the streams that begin a file is a video. */
gboolean spdl_ogg_has_video (const guint8 *data, gsize size);

/* Returns whether the last page is complete and has the end-of-stream flag. */
gboolean spdl_ogg_is_whole (const guint8 *data, gsize size);

G_END_DECLS
