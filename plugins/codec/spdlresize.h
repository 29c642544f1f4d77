/* gst-spdl: an antialiased bilinear resize, row by row
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_RESIZE_H__
#define __SPDL_RESIZE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Stretches an image with a triangle filter, which is widened when it shrinks:
 * what Pillow calls BILINEAR, and torchvision bilinear with antialias. Rows of
 * four bytes a pixel go in from the top; a window of them is kept, as high as
 * the filter. Rows of three bytes a pixel come out as soon as they can.
 *
 * Columns first: a row that comes out is summed up from rows in the window,
 * with 8 bits below the point, and then shrunk along its length. One thread. */

typedef struct _SpdlResize SpdlResize;

SpdlResize *spdl_resize_new (void);
void spdl_resize_free (SpdlResize *self);

/* Begins an image. Sizes are at least 1. What stays the same from one image to
 * the next is kept. Returns FALSE if there is no memory. */
gboolean spdl_resize_begin (SpdlResize *self, guint in_width, guint in_height,
    guint out_width, guint out_height, guint8 *out, gsize out_stride);

/* Where row @y, with 4 bytes a pixel, is to be written. At most
 * SPDL_RESIZE_AHEAD rows may be asked for beyond those that are done. */
#define SPDL_RESIZE_AHEAD 32
guint8 *spdl_resize_get_row (SpdlResize *self, guint y);

/* All rows before @y_end are there: makes what can be made of them. */
void spdl_resize_rows_done (SpdlResize *self, guint y_end);

G_END_DECLS

#endif /* __SPDL_RESIZE_H__ */
