/* gst-spdl: reads files through GIO
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/io/disk.h"

G_BEGIN_DECLS

/* Reads @range of what @uri names, of any scheme that GIO knows on this machine
 * (by gvfs, or as a resource), like spdl_disk_read(). */
GstBuffer *spdl_gio_read (const gchar *uri, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error);

G_END_DECLS
