/* gst-spdl: the part that reads shards through
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_INDEXER_H__
#define __SPDL_INDEXER_H__

#include "spdlreader.h"

G_BEGIN_DECLS

/* What knows tar, ZIP and HTTP lies in a plugin of its own, which has no
 * element and is loaded when a shard without an index, or one on a server, is
 * opened: its libraries take longer to load than all the rest. */
typedef struct {
  /* What remote shards share: NULL with @error set if there is no way to any.
   */
  gpointer (*open_client) (GError **error);
  void (*close_client) (gpointer client);
  SpdlReader *(*open_remote) (
      gpointer client, const gchar *uri, GError **error);
  /* See spdl_archive_walk(). */
  guint8 *(*walk) (SpdlReader *reader, gsize *size, GError **error);
} SpdlIndexerFuncs;

#define SPDL_INDEXER_PLUGIN "spdlshards"
/* The data of the plugin's object under which they are. */
#define SPDL_INDEXER_DATA "spdl-indexer"

/* The same from any number of threads. */
typedef struct _SpdlIndexer SpdlIndexer;

/* @funcs: (nullable): NULL: the plugin's */
SpdlIndexer *spdl_indexer_new (const SpdlIndexerFuncs *funcs);

/* All of its readers must have been freed. */
void spdl_indexer_free (SpdlIndexer *self);

/* Return NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlReader *
spdl_indexer_open_remote (SpdlIndexer *self, const gchar *uri, GError **error);
guint8 *spdl_indexer_walk (
    SpdlIndexer *self, SpdlReader *reader, gsize *size, GError **error);

G_END_DECLS

#endif /* __SPDL_INDEXER_H__ */
