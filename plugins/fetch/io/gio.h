/* gst-spdl: GIO reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/io/disk.h"

G_BEGIN_DECLS

/* Reads @range of @uri, whose scheme may be any that GIO supports on this
 * machine (by gvfs, or as a resource). See spdl_disk_read(). */
GstBuffer *spdl_gio_read (const gchar *uri, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error);

G_END_DECLS
