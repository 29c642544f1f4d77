/* gst-spdl: decompression of a shard that is compressed by gzip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/shards/archivestream.h"

G_BEGIN_DECLS

/* Returns whether data may be compressed by gzip. */
static inline gboolean
spdl_gzip_input_accepts (const guint8 *data, gsize size)
{
  return size > 0 && data[0] == 0x1f && (size == 1 || data[1] == 0x8b);
}

/* An input that decompresses another. libarchive's filter does not verify the
 * checksums, and would deliver damaged files. */
typedef struct _SpdlGzipInput SpdlGzipInput;

/* @input: must outlive the object; the first block that it returns is @data,
 * which was read already */
SpdlGzipInput *spdl_gzip_input_new (
    const SpdlArchiveInput *input, const guint8 *data, gsize size);
void spdl_gzip_input_free (SpdlGzipInput *self);

/* Reads decompressed bytes, like SpdlArchiveInput.read(). Other data
 * after the last member, such as zeros, is ignored. */
gboolean spdl_gzip_input_read (
    SpdlGzipInput *self, const guint8 **data, gsize *size, GError **error);

G_END_DECLS
