/* gst-spdl: reader of files, and of other URIs by GIO
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "plugins/fetch/io/openfiles.h"
#include "plugins/fetch/io/range.h"

G_BEGIN_DECLS

typedef struct {
  guint64 max_size; /* 0: no limit */
  gint64 deadline;  /* monotonic time in us; G_MAXINT64: none */
} SpdlDiskLimits;

/* Reads @range of the file at @path into a new buffer.
 *
 * @files: (nullable): where the file stays open for its next range, unless it
 *     is read to its end
 *
 * Returns: (transfer full): NULL with @error set, in the domain
 * GST_RESOURCE_ERROR or, if cancelled, G_IO_ERROR */
GstBuffer *
spdl_disk_read (const gchar *path, const SpdlRange *range, SpdlOpenFiles *files,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error);

/* Same for an open file. */
GstBuffer *spdl_disk_read_open (int fd, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error);

/* Reads @range of @uri, whose scheme may be any that GIO supports on this
 * machine (by gvfs, or as a resource). See spdl_disk_read(). */
GstBuffer *spdl_gio_read (const gchar *uri, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error);

G_END_DECLS
