/* gst-spdl: loader of the shards plugin, which indexes and streams shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "plugins/common/storesettings.h"
#include "plugins/dataset/archive/archiveindex.h"
#include "plugins/dataset/archive/shardreader.h"

G_BEGIN_DECLS

/* Settings of HTTP requests for shards. */

#define SPDL_REMOTE_USER_AGENT "gst-spdl/" PACKAGE_VERSION
#define SPDL_REMOTE_TIMEOUT 30
#define SPDL_REMOTE_MAX_TIMEOUT 3600
#define SPDL_REMOTE_LIST_TIMEOUT 3600
#define SPDL_REMOTE_MAX_LIST_TIMEOUT 86400
#define SPDL_REMOTE_RETRIES 3
#define SPDL_REMOTE_MAX_RETRIES 1000

/* The names are those of spdlfetch's properties. */
typedef struct _SpdlRemoteSettings {
  gchar *user_agent;           /* nullable */
  gchar *tls_ca_file;          /* nullable: the system's certificates */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  guint timeout;               /* s without data; 0: no timeout */
  guint list_timeout;          /* s for a listing; 0: no limit */
  guint retries;
  SpdlStoreSettings store;
  GCancellable *cancellable; /* nullable: cancels all requests permanently */
} SpdlRemoteSettings;

/* Sets the defaults. */
void spdl_remote_settings_init (SpdlRemoteSettings *self);
void spdl_remote_settings_clear (SpdlRemoteSettings *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlRemoteSettings, spdl_remote_settings_clear)

/* Receives the samples of a shard in order.
 *
 * @sample: (transfer full)
 *
 * Returns FALSE to stop. */
typedef gboolean (*SpdlSampleFunc) (SpdlSample *sample, gpointer user_data);

/* Receives the URI of each object of a listing. */
typedef void (*SpdlKeyFunc) (const gchar *uri, gpointer user_data);

/* Functions of the shards plugin, which handles tar, ZIP and HTTP. The plugin
 * has no element. It is loaded only when a shard is remote or has no index,
 * since its libraries take longer to load than everything else. */
typedef struct {
  /* Creates the HTTP client that all remote readers share. @settings must
   * outlive it. Returns NULL with @error set if HTTP is not available. */
  gpointer (*open_client) (const SpdlRemoteSettings *settings, GError **error);
  void (*close_client) (gpointer client);
  SpdlReader *(*open_remote) (
      gpointer client, const gchar *uri, GError **error);
  /* Reads the shard at @uri sequentially, see spdl_archive_stream(). */
  gboolean (*stream) (gpointer client, const gchar *uri, SpdlSampleFunc func,
      gpointer user_data, GError **error);
  /* Cancels all current and future requests of the client. Callable from any
   * thread. */
  void (*cancel) (gpointer client);
  /* Passes the URIs of objects to @func, see spdl_indexer_list(). */
  gboolean (*list) (gpointer client, const gchar *location, SpdlKeyFunc func,
      gpointer user_data, GError **error);
  /* See spdl_archive_walk(). */
  guint8 *(*walk) (SpdlReader *reader, gsize *size, GError **error);
} SpdlIndexerFuncs;

/* In the shards plugin, and in programs that contain it. */
extern const SpdlIndexerFuncs spdl_shards_funcs;

#define SPDL_INDEXER_PLUGIN "spdlshards"
/* Key of the function table in the data of the plugin object. */
#define SPDL_INDEXER_DATA "spdl-indexer"

/* Thread-safe access to these functions. */
typedef struct _SpdlIndexer SpdlIndexer;

/* Creates an indexer.
 *
 * @funcs: (nullable): NULL: the functions of the shards plugin
 * @remote: settings of HTTP requests, which must outlive the indexer */
SpdlIndexer *spdl_indexer_new (
    const SpdlIndexerFuncs *funcs, const SpdlRemoteSettings *remote);

/* Frees the indexer. All its readers must have been freed. */
void spdl_indexer_free (SpdlIndexer *self);

/* Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * shard could not be read to its end. */
gboolean spdl_indexer_stream (SpdlIndexer *self, const gchar *uri,
    SpdlSampleFunc func, gpointer user_data, GError **error);

/* Passes the URIs of all objects whose URIs begin with @location to @func. In
 * hf:// @location is a folder, in s3:// and gs:// any beginning of a key.
 *
 * Returns FALSE with @error set, in the domain of GST_RESOURCE_ERROR, if the
 * listing could not be read completely. */
gboolean spdl_indexer_list (SpdlIndexer *self, const gchar *location,
    SpdlKeyFunc func, gpointer user_data, GError **error);

/* Cancels all current and future streams. */
void spdl_indexer_cancel (SpdlIndexer *self);

/* Both functions return NULL with @error set, in the domain of
 * GST_RESOURCE_ERROR. spdl_indexer_open_remote() sets GST_RESOURCE_ERROR_SEEK
 * if the server does not support byte ranges. */
SpdlReader *
spdl_indexer_open_remote (SpdlIndexer *self, const gchar *uri, GError **error);
guint8 *spdl_indexer_walk (
    SpdlIndexer *self, SpdlReader *reader, gsize *size, GError **error);

G_END_DECLS
