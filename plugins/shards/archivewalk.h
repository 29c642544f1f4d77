/* gst-spdl: reads all members of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archivewriter.h"
#include "plugins/dataset/archive/shardreader.h"

G_BEGIN_DECLS

/* Reads the headers of a tar or a ZIP, and the short notes in it, and makes its
 * index. What no byte range can be had of is refused by name: archives that are
 * compressed, sparse, encrypted, cut off or damaged.
 *
 * Returns: (transfer full): the index as it is in a file; NULL with @error set,
 * in the domain of GST_RESOURCE_ERROR */
guint8 *spdl_archive_walk (SpdlReader *reader, gsize *size, GError **error);

typedef enum {
  SPDL_ZIP_WALK_OK,
  SPDL_ZIP_WALK_FAILED, /* with an error */
  SPDL_ZIP_WALK_NO_ZIP, /* it has no end of a ZIP: nothing was added */
} SpdlZipWalkResult;

/* Adds the files of the archive to @writer, in the order in which they lie
 * there. */
SpdlZipWalkResult
spdl_zip_walk (SpdlReader *reader, SpdlArchiveWriter *writer, GError **error);

G_END_DECLS
