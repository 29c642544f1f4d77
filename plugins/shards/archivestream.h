/* gst-spdl: sequential reader of the samples of a tar
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

typedef struct {
  const gchar *name; /* name for messages */
  /* Reads bytes, which are valid until the next call; 0 bytes at the end.
   * Returns FALSE with @error set. */
  gboolean (*read) (
      gpointer user_data, const guint8 **data, gsize *size, GError **error);
  gpointer user_data;
  gsize max_seen; /* size of the table of keys, a power of 2; 0: 4 Mi */
} SpdlArchiveInput;

/* Reads a tar sequentially, and passes each sample with its files to @func.
 * Members that the indexer refuses are errors here too, and so are samples of
 * more than 1 GiB. Samples before an error have been passed by then. Returns
 * FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the archive
 * was not read to its end */
gboolean spdl_archive_stream (const SpdlArchiveInput *input,
    SpdlSampleFunc func, gpointer user_data, GError **error);

G_END_DECLS
