/* gst-spdl: byte ranges in URIs, and their compression
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Byte range as in HTTP: first and last byte. */
typedef struct {
  guint64 first;
  guint64 last; /* G_MAXUINT64: to the end */
} SpdlRange;

/* Splits `#bytes=FIRST-LAST` off @uri, in place. Returns FALSE with @error set
 * if there is such a fragment and it is invalid. */
gboolean spdl_range_split (gchar *uri, SpdlRange *range, GError **error);

static inline gboolean
spdl_range_is_open (const SpdlRange *self)
{
  return self->last == G_MAXUINT64;
}

/* Computes the number of bytes in the range, for a resource of @whole bytes.
 * Returns FALSE with @error set if the resource ends before the range. */
gboolean spdl_range_get_size (
    const SpdlRange *self, guint64 whole, guint64 *size, GError **error);

/* Returns FALSE with @error set if @size exceeds @max_size (0: no limit). */
gboolean spdl_check_max_size (guint64 size, guint64 max_size, GError **error);

/* Same for an item of unknown size of which @size bytes were received. */
gboolean spdl_check_max_part (guint64 size, guint64 max_size, GError **error);

/* Compression parameters in the URI of a ZIP member:
 *
 *     s.zip#bytes=100-299&inflate=5000&crc32=9ab3c0de
 *
 * The bytes are raw deflate data without a header. `inflate` is the
 * decompressed size, and `crc32` the checksum of the decompressed data. */

typedef struct {
  gboolean packed;
  guint32 size; /* decompressed */
  guint32 checksum;
} SpdlPacking;

/* Splits the parameters off @uri, in place. Returns FALSE with @error set if
 * they are invalid. */
gboolean spdl_packing_split (gchar *uri, SpdlPacking *packing, GError **error);

/* Decompresses @content (transfer full), which must consist of exactly the
 * deflated data.
 * Returns: (transfer full): NULL with @error set if the result does not match
 * the URI */
GstBuffer *
spdl_inflate (GstBuffer *content, const SpdlPacking *packing, GError **error);

G_END_DECLS
