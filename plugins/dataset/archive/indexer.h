/* gst-spdl: loads the plugin that indexes shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/common/storesettings.h"
#include "plugins/dataset/archive/archiveindex.h"
#include "plugins/dataset/archive/shardreader.h"

G_BEGIN_DECLS

/* How servers are asked for shards. */

#define SPDL_REMOTE_USER_AGENT "gst-spdl/" PACKAGE_VERSION
#define SPDL_REMOTE_TIMEOUT 30
#define SPDL_REMOTE_RETRIES 3

/* Under the same names as spdlfetch's. */
typedef struct {
  gchar *user_agent;           /* nullable */
  gchar *tls_ca_file;          /* nullable: the system's authorities */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  guint timeout;               /* s in which no byte came; 0: none */
  guint retries;
  SpdlStoreSettings store;
} SpdlRemoteSettings;

/* The defaults. */
void spdl_remote_settings_init (SpdlRemoteSettings *self);
void spdl_remote_settings_clear (SpdlRemoteSettings *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlRemoteSettings, spdl_remote_settings_clear)

/* Is given the samples of a shard in order.
 *
 * @sample: (transfer full)
 *
 * Returns FALSE if no more are wanted */
typedef gboolean (*SpdlSampleFunc) (SpdlSample *sample, gpointer user_data);

/* Is given the URI of each object of a listing. */
typedef void (*SpdlKeyFunc) (const gchar *uri, gpointer user_data);

/* What knows tar, ZIP and HTTP lies in a plugin of its own, which has no
 * element and is loaded when a shard without an index, or one on a server, is
 * opened: its libraries take longer to load than all the rest. */
typedef struct {
  /* What remote shards share: NULL with @error set if there is no way to any.
   */
  gpointer (*open_client) (const SpdlRemoteSettings *settings, GError **error);
  void (*close_client) (gpointer client);
  SpdlReader *(*open_remote) (
      gpointer client, const gchar *uri, GError **error);
  /* Reads all of what @uri names, from its beginning to its end, as
   * spdl_archive_stream() does. */
  gboolean (*stream) (gpointer client, const gchar *uri, SpdlSampleFunc func,
      gpointer user_data, GError **error);
  /* Lets all that the client does end soon, for good. From any thread. */
  void (*cancel) (gpointer client);
  /* Tells the keys below @location, which begins an object store's keys, in the
   * order of their bytes. */
  gboolean (*list) (gpointer client, const gchar *location, SpdlKeyFunc func,
      gpointer user_data, GError **error);
  /* See spdl_archive_walk(). */
  guint8 *(*walk) (SpdlReader *reader, gsize *size, GError **error);
} SpdlIndexerFuncs;

#define SPDL_INDEXER_PLUGIN "spdlshards"
/* The data of the plugin's object under which they are. */
#define SPDL_INDEXER_DATA "spdl-indexer"

/* The same from any number of threads. */
typedef struct _SpdlIndexer SpdlIndexer;

/* @funcs: (nullable): NULL: the plugin's
 * @remote: how servers are asked */
SpdlIndexer *spdl_indexer_new (
    const SpdlIndexerFuncs *funcs, const SpdlRemoteSettings *remote);

/* All of its readers must have been freed. */
void spdl_indexer_free (SpdlIndexer *self);

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * shard could not be read to its end. */
gboolean spdl_indexer_stream (SpdlIndexer *self, const gchar *uri,
    SpdlSampleFunc func, gpointer user_data, GError **error);

/* Tells the URIs of all objects that begin with @location, which is a folder in
 * hf:// and any beginning of a key in s3:// and gs://.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * listing could not be read to its end. */
gboolean spdl_indexer_list (SpdlIndexer *self, const gchar *location,
    SpdlKeyFunc func, gpointer user_data, GError **error);

/* Ends all streams soon, and all that are begun later. */
void spdl_indexer_cancel (SpdlIndexer *self);

/* Return NULL with @error set, in the domain of GST_RESOURCE_ERROR; the first
 * with GST_RESOURCE_ERROR_SEEK where the server knows no byte ranges. */
SpdlReader *
spdl_indexer_open_remote (SpdlIndexer *self, const gchar *uri, GError **error);
guint8 *spdl_indexer_walk (
    SpdlIndexer *self, SpdlReader *reader, gsize *size, GError **error);

G_END_DECLS
