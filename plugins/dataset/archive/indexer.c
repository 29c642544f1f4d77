/* gst-spdl: loader of the shards plugin, which indexes and streams shards
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/indexer.h"

#include "plugins/common/pluginfuncs.h"

void
spdl_remote_settings_init (SpdlRemoteSettings *self)
{
  *self = (SpdlRemoteSettings){
    .user_agent = g_strdup (SPDL_REMOTE_USER_AGENT),
    .timeout = SPDL_REMOTE_TIMEOUT,
    .list_timeout = SPDL_REMOTE_LIST_TIMEOUT,
    .retries = SPDL_REMOTE_RETRIES,
  };
}

void
spdl_remote_settings_clear (SpdlRemoteSettings *self)
{
  g_clear_pointer (&self->user_agent, g_free);
  g_clear_pointer (&self->tls_ca_file, g_free);
  g_clear_pointer (&self->trusted_origins, g_free);
  g_clear_pointer (&self->extra_headers, gst_structure_free);
  spdl_store_settings_clear (&self->store);
  g_clear_object (&self->cancellable);
}

struct _SpdlIndexer {
  GMutex lock; /* guards the creation of: */
  const SpdlIndexerFuncs *funcs;
  gpointer client;
  gboolean cancelled;
  const SpdlRemoteSettings *remote;
};

SpdlIndexer *
spdl_indexer_new (
    const SpdlIndexerFuncs *funcs, const SpdlRemoteSettings *remote)
{
  SpdlIndexer *self = g_new0 (SpdlIndexer, 1);

  g_mutex_init (&self->lock);
  self->funcs = funcs;
  self->remote = remote;
  return self;
}

void
spdl_indexer_free (SpdlIndexer *self)
{
  if (self->client)
    self->funcs->close_client (self->client);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static const SpdlIndexerFuncs *
get_funcs (SpdlIndexer *self, gboolean client, GError **error)
{
  const SpdlIndexerFuncs *funcs;

  g_mutex_lock (&self->lock);
  if (!self->funcs)
    self->funcs =
        spdl_plugin_load_funcs (SPDL_INDEXER_PLUGIN, SPDL_INDEXER_DATA,
            "reads shards that have no index or lie on servers", error);
  funcs = self->funcs;
  if (funcs && client && !self->client) {
    self->client = funcs->open_client (self->remote, error);
    if (self->client && self->cancelled)
      funcs->cancel (self->client);
  }
  if (client && !self->client)
    funcs = NULL;
  g_mutex_unlock (&self->lock);
  return funcs;
}

SpdlReader *
spdl_indexer_open_remote (SpdlIndexer *self, const gchar *uri, GError **error)
{
  const SpdlIndexerFuncs *funcs = get_funcs (self, TRUE, error);

  return funcs ? funcs->open_remote (self->client, uri, error) : NULL;
}

gboolean
spdl_indexer_stream (SpdlIndexer *self, const gchar *uri, SpdlSampleFunc func,
    gpointer user_data, GError **error)
{
  const SpdlIndexerFuncs *funcs = get_funcs (self, TRUE, error);

  return funcs && funcs->stream (self->client, uri, func, user_data, error);
}

gboolean
spdl_indexer_list (SpdlIndexer *self, const gchar *location, SpdlKeyFunc func,
    gpointer user_data, GError **error)
{
  const SpdlIndexerFuncs *funcs = get_funcs (self, TRUE, error);

  return funcs && funcs->list (self->client, location, func, user_data, error);
}

void
spdl_indexer_cancel (SpdlIndexer *self)
{
  g_mutex_lock (&self->lock);
  self->cancelled = TRUE;
  if (self->client)
    self->funcs->cancel (self->client);
  g_mutex_unlock (&self->lock);
}

guint8 *
spdl_indexer_walk (
    SpdlIndexer *self, SpdlReader *reader, gsize *size, GError **error)
{
  const SpdlIndexerFuncs *funcs = get_funcs (self, FALSE, error);

  return funcs ? funcs->walk (reader, size, error) : NULL;
}
