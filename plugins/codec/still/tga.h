/* gst-spdl: TGA files with gray and alpha
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* FFmpeg's decoder reads 16-bit gray with alpha as 16-bit color with 5 bits per
 * component. */

/* Returns whether a file of media type @type is a TGA with gray and alpha. */
gboolean
spdl_tga_has_gray_alpha (const gchar *type, const guint8 *data, gsize size);

/* Returns the image as a 32-bit TGA, truncated where @data is; NULL if there is
 * no memory for it. */
GstBuffer *spdl_tga_expand (const guint8 *data, gsize size);

G_END_DECLS
