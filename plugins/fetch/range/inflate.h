/* gst-spdl: decompression of deflated byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a URI says of a member of a ZIP archive:
 *
 *     s.zip#bytes=100-299&inflate=5000&crc32=9ab3c0de
 *
 * The bytes are deflated, without a head; what they become has that size and
 * that checksum. */

typedef struct {
  gboolean packed;
  guint32 size; /* unpacked */
  guint32 checksum;
} SpdlPacking;

/* Splits that off @uri, in place. Returns FALSE with @error set if it makes no
 * sense. */
gboolean spdl_packing_split (gchar *uri, SpdlPacking *packing, GError **error);

/* Unpacks @content (transfer full), which is all of it and nothing more.
 *
 * Returns: (transfer full): NULL with @error set if it does not become what the
 *     URI says */
GstBuffer *
spdl_inflate (GstBuffer *content, const SpdlPacking *packing, GError **error);

G_END_DECLS
