/* gst-spdl: reads bytes of a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/mappedfile.h"

G_BEGIN_DECLS

/* The validator of what a server says nothing by which to know it again. */
#define SPDL_READER_UNKNOWN 1

/* Reads a file piece by piece, on a disk or where a server has it. A way to
 * read makes this the first member of its own. For one thread at a time. */

typedef struct _SpdlReader SpdlReader;

struct _SpdlReader {
  gchar *name; /* a path or a URI, as messages show it */
  SpdlStamp stamp;
  guint64 validator; /* hash of a server's ETag or date; 0: a file on a disk */
  guint mode;        /* the file's permissions */
  gsize block;       /* how much it is worth to read at once */
  gboolean (*read) (SpdlReader *self, guint64 offset, gpointer data, gsize size,
      GError **error);
  void (*free) (SpdlReader *self);
};

/* Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlReader *spdl_reader_open_file (const gchar *path, GError **error);

void spdl_reader_free (SpdlReader *self);

/* Reads all of it, or returns FALSE with @error set. */
gboolean spdl_reader_read (SpdlReader *self, guint64 offset, gpointer data,
    gsize size, GError **error);

/* The hash of some pieces of it, by which to know a file whose stamp was made
 * to look like another's. */
gboolean
spdl_reader_hash_samples (SpdlReader *self, guint64 *hash, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlReader, spdl_reader_free)

G_END_DECLS
