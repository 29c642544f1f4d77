/* gst-spdl: inflation of deflated byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

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
