/* gst-spdl: samples of a tar that is read sequentially
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

typedef struct {
  const gchar *name; /* as messages show it */
  /* Waits for bytes, which are valid until the next call; none are the end.
   * Returns FALSE with @error set. */
  gboolean (*read) (
      gpointer user_data, const guint8 **data, gsize *size, GError **error);
  gpointer user_data;
} SpdlArchiveInput;

/* Reads all of a tar and gives its samples, each with its files, to @func. What
 * the tar's index would not have is refused likewise, as are samples of more
 * than 1 GiB; those before it were given by then.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if that
 * is not known to be all of it */
gboolean spdl_archive_stream (const SpdlArchiveInput *input,
    SpdlSampleFunc func, gpointer user_data, GError **error);

G_END_DECLS
