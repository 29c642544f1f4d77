/* gst-spdl: joins requests for neighboring byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Joins items of @group that are byte ranges of the same file, with no more
 * than @gap bytes between one and the next.
 *
 * @group: (transfer full)
 * @max_size: of a join, in bytes; 0: none
 *
 * Returns: (transfer full): the same items */
GstBufferList *
spdl_coalesce_group (GstBufferList *group, guint64 gap, guint64 max_size);

/* The URI in @item, without what may surround it. */
gchar *spdl_coalesce_dup_uri (GstBuffer *item);

G_END_DECLS
