/* gst-spdl: indexing of a tar or ZIP shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/dataset/archive/shardreader.h"

G_BEGIN_DECLS

/* Indexes a tar or ZIP: reads the headers and the short notes. Archives whose
 * members have no byte ranges are refused with a message that names them:
 * archives that are compressed as a whole, sparse, encrypted, truncated or
 * damaged.
 *
 * Returns: (transfer full): the content of the index file; NULL with @error
 * set, in the domain of GST_RESOURCE_ERROR */
guint8 *spdl_archive_walk (SpdlReader *reader, gsize *size, GError **error);

typedef enum {
  SPDL_ZIP_WALK_OK,
  SPDL_ZIP_WALK_FAILED, /* @error is set */
  SPDL_ZIP_WALK_NO_ZIP, /* not a ZIP; nothing was added */
} SpdlZipWalkResult;

/* Adds the files of a ZIP to @writer, in the order of their offsets. */
SpdlZipWalkResult
spdl_zip_walk (SpdlReader *reader, SpdlArchiveWriter *writer, GError **error);

G_END_DECLS
