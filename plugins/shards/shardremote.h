/* gst-spdl: reads bytes of a shard on a server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

typedef struct _SpdlHttp SpdlHttp;

typedef struct {
  SpdlHttp *http;
  GCancellable *cancellable;
} SpdlRemoteClient;

/* The client for all readers, at any number of threads. NULL with @error set if
 * there is none. */
gpointer
spdl_remote_client_new (const SpdlRemoteSettings *settings, GError **error);
void spdl_remote_client_free (gpointer client);

/* Asks for a byte of what @uri names, which tells its size and by what it is
 * known again; then for byte ranges. A server that knows none is refused, and
 * what changes while it is read. Requests are repeated as spdlfetch does it.
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR; of a
 * server that knows no ranges it is GST_RESOURCE_ERROR_SEEK. */
SpdlReader *
spdl_remote_open (gpointer client, const gchar *uri, GError **error);

/* Asks for all of what @uri names, and reads it while it comes. */
gboolean spdl_remote_stream (gpointer client, const gchar *uri,
    SpdlSampleFunc func, gpointer user_data, GError **error);

/* Tells the URIs of all objects that begin with @location, of an object
 * store, page by page. */
gboolean spdl_remote_list (gpointer client, const gchar *location,
    SpdlKeyFunc func, gpointer user_data, GError **error);

/* Lets all requests end soon, also those that are made later. From any
 * thread. */
void spdl_remote_cancel (gpointer client);

G_END_DECLS
