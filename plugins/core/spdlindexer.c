/* gst-spdl: the part that reads shards through
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlindexer.h"

#include <gst/gst.h>

struct _SpdlIndexer {
  GMutex lock; /* guards the making of: */
  const SpdlIndexerFuncs *funcs;
  gpointer client;
};

SpdlIndexer *
spdl_indexer_new (const SpdlIndexerFuncs *funcs)
{
  SpdlIndexer *self = g_new0 (SpdlIndexer, 1);

  g_mutex_init (&self->lock);
  self->funcs = funcs;
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

/* The plugin stays loaded, as all do. */
static const SpdlIndexerFuncs *
load_funcs (GError **error)
{
  GstPlugin *plugin = gst_plugin_load_by_name (SPDL_INDEXER_PLUGIN);
  const SpdlIndexerFuncs *funcs =
      plugin ? g_object_get_data (G_OBJECT (plugin), SPDL_INDEXER_DATA) : NULL;

  if (!funcs)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The plugin " SPDL_INDEXER_PLUGIN
        " of gst-spdl is missing, which reads "
        "shards that have no index or lie on servers");
  gst_clear_object (&plugin);
  return funcs;
}

static const SpdlIndexerFuncs *
get_funcs (SpdlIndexer *self, gboolean client, GError **error)
{
  const SpdlIndexerFuncs *funcs;

  g_mutex_lock (&self->lock);
  if (!self->funcs)
    self->funcs = load_funcs (error);
  funcs = self->funcs;
  if (funcs && client && !self->client)
    self->client = funcs->open_client (error);
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

guint8 *
spdl_indexer_walk (
    SpdlIndexer *self, SpdlReader *reader, gsize *size, GError **error)
{
  const SpdlIndexerFuncs *funcs = get_funcs (self, FALSE, error);

  return funcs ? funcs->walk (reader, size, error) : NULL;
}
