/* gst-spdl: random-access reader of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/textfile.h"

G_BEGIN_DECLS

/* Validator of a remote shard for which the server sends neither ETag nor
 * Last-Modified. */
#define SPDL_READER_UNKNOWN 1

/* Base of the readers of local and remote files, which embed it as their first
 * member. Not thread-safe. */

typedef struct _SpdlReader SpdlReader;

struct _SpdlReader {
  gchar *name; /* path or URI for messages, without credentials */
  SpdlStamp stamp;
  guint64 validator; /* hash of the server's ETag or date; 0: local file */
  guint mode;        /* the file's permissions */
  gsize block;       /* recommended minimum size of a read */
  gboolean (*read) (SpdlReader *self, guint64 offset, gpointer data, gsize size,
      GError **error);
  void (*free) (SpdlReader *self);
};

/* Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlReader *spdl_reader_open_file (const gchar *path, GError **error);

void spdl_reader_free (SpdlReader *self);

/* Reads @size bytes. Returns FALSE with @error set if fewer are available. */
gboolean spdl_reader_read (SpdlReader *self, guint64 offset, gpointer data,
    gsize size, GError **error);

/* Calculates a hash of excerpts of the shard, which detects another shard with
 * the same size and modification time. */
gboolean
spdl_reader_hash_samples (SpdlReader *self, guint64 *hash, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlReader, spdl_reader_free)

G_END_DECLS
