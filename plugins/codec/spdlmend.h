/* gst-spdl: broken PNGs made whole
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_MEND_H__
#define __SPDL_MEND_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes a sound PNG of what can be read of @data, a PNG that is cut off or has
 * wrong data; @n_rows are those that were there, the others are zeros. NULL if
 * there is no header, or no memory.
 *
 * So what is broken can be decoded (corrupt=keep) by decoders that give nothing
 * for a broken file, or, as pngdec does, never let go of it. */
GstBuffer *spdl_mend_png (const guint8 *data, gsize size, guint *n_rows);

G_END_DECLS

#endif /* __SPDL_MEND_H__ */
