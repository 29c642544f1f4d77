/* gst-spdl: reader of a shard on an HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/indexer.h"
#include "plugins/fetch/http/http.h"

G_BEGIN_DECLS

typedef struct {
  SpdlHttpSettings settings;
  SpdlHttp *http;
  GCancellable *cancellable;
  guint list_timeout; /* s; 0: no limit */
} SpdlRemoteClient;

/* Requests @range of @uri and waits for it.
 *
 * @deadline: monotonic time in us; G_MAXINT64: none
 * @max_size: bytes; 0: no limit
 * @head: called with @user_data for each successful response, in the client's
 *     thread
 *
 * Returns: (transfer full): NULL with @error set */
GstBuffer *spdl_remote_fetch (SpdlRemoteClient *client, const gchar *uri,
    const SpdlRange *range, gint64 deadline, guint64 max_size,
    SpdlHttpHeadFunc head, gpointer user_data, GError **error);

/* Creates an HTTP client, which any number of readers and threads may share.
 *
 * @settings: must outlive the client
 *
 * Returns NULL with @error set on failure. */
gpointer
spdl_remote_client_new (const SpdlRemoteSettings *settings, GError **error);
void spdl_remote_client_free (gpointer client);

/* Opens a shard for byte-range requests. Requests its first byte to get its
 * size and validator. Reads fail if the shard changes. Requests are retried as
 * in spdlfetch. Returns NULL with @error set, in the domain of
 * GST_RESOURCE_ERROR; the code is GST_RESOURCE_ERROR_SEEK if the server does
 * not support byte ranges. */
SpdlReader *
spdl_remote_open (gpointer client, const gchar *uri, GError **error);

/* Requests the whole shard at @uri, and reads its samples as data arrives; see
 * spdl_archive_stream(). */
gboolean spdl_remote_stream (gpointer client, const gchar *uri,
    SpdlSampleFunc func, gpointer user_data, GError **error);

/* Lists the objects below @location page by page, see spdl_indexer_list(). */
gboolean spdl_remote_list (gpointer client, const gchar *location,
    SpdlKeyFunc func, gpointer user_data, GError **error);

/* Cancels all current and future requests. Callable from any thread. */
void spdl_remote_cancel (gpointer client);

G_END_DECLS
