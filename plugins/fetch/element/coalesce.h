/* gst-spdl: coalescing of neighboring byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Joins the items of @group that are byte ranges of the same file with gaps of
 * at most @gap bytes.
 * @group: (transfer full)
 * @max_size: limit on a joined range, in bytes; 0: no limit
 * Returns: (transfer full): the same items */
GstBufferList *
spdl_coalesce_group (GstBufferList *group, guint64 gap, guint64 max_size);

/* Returns the path or URI in @item. One newline at the end is removed if no
 * source has named the item, as in a file of the type text/uri-list. Returns
 * NULL with @error set if it has a NUL byte. */
gchar *spdl_coalesce_dup_uri (GstBuffer *item, GError **error);

G_END_DECLS
