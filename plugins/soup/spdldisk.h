/* gst-spdl: bytes of a file, or of a range of it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DISK_H__
#define __SPDL_DISK_H__

#include <gio/gio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* A byte range as in HTTP: the first and the last byte. */
typedef struct {
  guint64 first;
  guint64 last; /* G_MAXUINT64: to the end */
} SpdlRange;

/* Splits `#bytes=FIRST-LAST` off @uri, in place. Returns FALSE with @error set
 * if there is such a fragment and it is no range. */
gboolean spdl_range_split (gchar *uri, SpdlRange *range, GError **error);

/* Reads @range of the file at @path into a new buffer.
 *
 * Returns: (transfer full): NULL with @error set, in the domain of
 * GST_RESOURCE_ERROR or (cancelled) G_IO_ERROR */
GstBuffer *spdl_disk_read (const gchar *path, const SpdlRange *range,
    GCancellable *cancellable, GError **error);

G_END_DECLS

#endif /* __SPDL_DISK_H__ */
