/* gst-spdl: TGA files of gray and alpha
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* FFmpeg's decoder takes the two bytes of gray and alpha for a colour of 5 bits
 * a component. */

/* Whether a file of media type @type is a TGA of that kind. */
gboolean
spdl_tga_has_gray_alpha (const gchar *type, const guint8 *data, gsize size);

/* Returns the same image as a TGA of 32 bits a pixel, which ends where @data
 * does; NULL if there is no memory for it. */
GstBuffer *spdl_tga_expand (const guint8 *data, gsize size);

G_END_DECLS
