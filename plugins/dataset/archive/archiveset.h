/* gst-spdl: a dataset of shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/sidecar.h"

G_BEGIN_DECLS

/* The samples of any number of shards, one behind the other. Of each shard its
 * index is open, which is mapped where it is in a file. For one thread at a
 * time. */
typedef struct _SpdlArchiveSet SpdlArchiveSet;

typedef struct {
  gboolean labels;         /* are wanted */
  const gchar *extensions; /* (nullable): which files are payloads */
  SpdlSidecarUse sidecar;
  const SpdlRemoteSettings *remote; /* how servers are asked */
  /* (nullable): is told, in a sentence, of what was left out and why */
  void (*warn) (const gchar *text, gpointer user_data);
  gpointer user_data;
} SpdlArchiveSetOptions;

/* Whether @location names shards: a tar or a ZIP, on a disk or a server, with
 * `{0000..0127}` and `{a,b}` in it or, on a disk, with a glob. */
gboolean spdl_archive_set_is_set (const gchar *location);

/* Opens all of them, some at a time.
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR; it is
 * GST_RESOURCE_ERROR_SEEK where a server knows no byte ranges. */
SpdlArchiveSet *spdl_archive_set_open (const gchar *location,
    const SpdlArchiveSetOptions *options, GError **error);

void spdl_archive_set_free (SpdlArchiveSet *self);

guint64 spdl_archive_set_get_size (const SpdlArchiveSet *self);

/* Of the shards' indexes, in order, and of the extensions. */
guint64 spdl_archive_set_get_hash (const SpdlArchiveSet *self);

/* The URI (transfer full) of item @i, a byte range of a shard, its label (-1:
 * none) and what else is known of it (transfer full).
 *
 * Returns NULL with @error set if the shard has changed since it was opened. */
gchar *spdl_archive_set_get_item (SpdlArchiveSet *self, guint64 i,
    gint64 *label, GstStructure **extra, GError **error);

G_END_DECLS
