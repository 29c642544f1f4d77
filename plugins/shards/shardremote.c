/* gst-spdl: reader of a shard on an HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/shardremote.h"

#include <string.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/fetch/http/bodystream.h"
#include "plugins/fetch/http/origin.h"
#include "plugins/shards/archivestream.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);

/* Minimum size of a range request, in bytes. It exceeds the notes of most
 * samples, and a larger request costs less than a second one. */
#define BLOCK 8192
/* Capacity of the body stream of a sequentially read shard, in bytes. */
#define STREAM_ROOM (1 << 20)

typedef SpdlRemoteClient Client;

typedef struct {
  SpdlReader base;
  Client *client;
  gchar *uri;

  /* The last response. */
  gboolean partial;
  guint64 whole;
  guint64 validator;
  gint64 seconds;
} RemoteReader;

gpointer
spdl_remote_client_new (const SpdlRemoteSettings *remote, GError **error)
{
  Client *self;

  if (!spdl_fetch_debug)
    GST_DEBUG_CATEGORY_INIT (
        spdl_fetch_debug, "spdlremote", 0, "Shards on servers");
  if (!spdl_origin_check_trusted (remote->trusted_origins, FALSE, error))
    return NULL;
  self = g_new0 (Client, 1);
  self->settings = (SpdlHttpSettings){ .timeout = remote->timeout,
    .retries = remote->retries,
    .user_agent = remote->user_agent,
    .tls_ca_file = remote->tls_ca_file,
    .extra_headers = remote->extra_headers,
    .trusted_origins = remote->trusted_origins,
    .store = remote->store };
  self->http = spdl_http_new (&self->settings, error);
  if (!self->http) {
    g_free (self);
    return NULL;
  }
  self->list_timeout = remote->list_timeout;
  self->cancellable = remote->cancellable ? g_object_ref (remote->cancellable)
                                          : g_cancellable_new ();
  return self;
}

void
spdl_remote_client_free (gpointer client)
{
  Client *self = client;

  spdl_http_free (self->http);
  g_object_unref (self->cancellable);
  g_free (self);
}

/* Waiting */

typedef struct {
  SpdlHttpHeadFunc head;
  gpointer user_data;

  GMutex lock; /* guards: */
  GCond cond;
  gboolean done;
  GstBuffer *content;
  GError *error;
} Wait;

static void
on_wait_head (gpointer data, SoupMessage *message)
{
  Wait *wait = data;

  wait->head (wait->user_data, message);
}

static void
on_wait_end (gpointer data, GstBuffer *content, GError *error)
{
  Wait *wait = data;

  g_mutex_lock (&wait->lock);
  wait->content = content;
  wait->error = error;
  wait->done = TRUE;
  g_cond_signal (&wait->cond);
  g_mutex_unlock (&wait->lock);
}

GstBuffer *
spdl_remote_fetch (SpdlRemoteClient *client, const gchar *uri,
    const SpdlRange *range, gint64 deadline, guint64 max_size,
    SpdlHttpHeadFunc head, gpointer user_data, GError **error)
{
  Wait wait = { head, user_data };
  const SpdlHttpFetch fetch = { .uri = uri,
    .range = *range,
    .deadline = deadline,
    .max_size = max_size,
    .cancellable = client->cancellable,
    .func = on_wait_end,
    .user_data = &wait };

  g_mutex_init (&wait.lock);
  g_cond_init (&wait.cond);
  spdl_http_fetch_with_head (client->http, &fetch, on_wait_head);
  g_mutex_lock (&wait.lock);
  while (!wait.done)
    g_cond_wait (&wait.cond, &wait.lock);
  g_mutex_unlock (&wait.lock);
  g_cond_clear (&wait.cond);
  g_mutex_clear (&wait.lock);
  if (wait.error)
    g_propagate_error (error, wait.error);
  return wait.content;
}

/* Responses */

static gint64
seconds_of (SoupMessageHeaders *headers)
{
  const gchar *text = soup_message_headers_get_one (headers, "Last-Modified");
  g_autoptr (GDateTime) time =
      text ? soup_date_time_new_from_http_string (text) : NULL;

  return time ? g_date_time_to_unix (time) : 0;
}

static guint64
validator_of (SoupMessageHeaders *headers)
{
  const gchar *text = soup_message_headers_get_one (headers, "ETag");
  guint64 hash;

  if (!text)
    text = soup_message_headers_get_one (headers, "Last-Modified");
  hash = text ? spdl_fingerprint_add (0, text, strlen (text)) : 0;
  return MAX (hash, SPDL_READER_UNKNOWN);
}

static void
on_head (gpointer user_data, SoupMessage *message)
{
  RemoteReader *self = user_data;
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  goffset start, end, whole = -1;

  self->partial =
      soup_message_get_status (message) == SOUP_STATUS_PARTIAL_CONTENT &&
      soup_message_headers_get_content_range (headers, &start, &end, &whole) &&
      whole >= 0;
  self->whole = MAX (whole, 0);
  self->validator = validator_of (headers);
  self->seconds = seconds_of (headers);
}

/* Requests a byte range and waits for it. Returns it (transfer full), or NULL
 * with @error set. */
static GstBuffer *
fetch_range (RemoteReader *self, guint64 offset, gsize size, GError **error)
{
  const SpdlRange range = { offset, offset + size - 1 };
  g_autoptr (GError) reason = NULL;
  g_autoptr (GstBuffer) content = spdl_remote_fetch (
      self->client, self->uri, &range, G_MAXINT64, 0, on_head, self, &reason);

  if (content && self->partial)
    return g_steal_pointer (&content);
  if (reason)
    g_set_error (error, GST_RESOURCE_ERROR, reason->code,
        "Failed to read \"%s\": %s", self->base.name, reason->message);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK,
        "\"%s\" cannot be used as a shard: the server supports no byte ranges",
        self->base.name);
  return NULL;
}

static gboolean
read_remote (
    SpdlReader *base, guint64 offset, gpointer data, gsize size, GError **error)
{
  RemoteReader *self = (RemoteReader *) base;
  g_autoptr (GstBuffer) content = fetch_range (self, offset, size, error);

  if (!content)
    return FALSE;
  if (self->whole != base->stamp.size || self->validator != base->validator ||
      gst_buffer_extract (content, 0, data, size) != size)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" changed while it was read", base->name);
  return TRUE;
}

static void
free_remote (SpdlReader *base)
{
  RemoteReader *self = (RemoteReader *) base;

  g_free (base->name);
  g_free (self->uri);
  g_free (self);
}

/* Returns the name of the shard for messages: its URI without query and
 * credentials. */
static gchar *
make_name (const gchar *uri)
{
  g_autofree gchar *name = g_strndup (uri, spdl_uri_measure_name (uri));

  return spdl_redact_dup_uri (name);
}

SpdlReader *
spdl_remote_open (gpointer client, const gchar *uri, GError **error)
{
  RemoteReader *self = g_new0 (RemoteReader, 1);
  GstBuffer *content;

  self->base = (SpdlReader){ .name = make_name (uri),
    .mode = 0600,
    .block = BLOCK,
    .read = read_remote,
    .free = free_remote };
  self->client = client;
  self->uri = g_strdup (uri);
  content = fetch_range (self, 0, 1, error);
  if (!content) {
    free_remote (&self->base);
    return NULL;
  }
  gst_buffer_unref (content);
  self->base.stamp = (SpdlStamp){ self->whole, self->seconds, 0 };
  self->base.validator = self->validator;
  return &self->base;
}

/* Sequential reading */

typedef struct {
  SpdlBodyStream *body_stream;
  const gchar *name;
} Stream;

static gboolean
read_stream (
    gpointer user_data, const guint8 **data, gsize *size, GError **error)
{
  const Stream *self = user_data;
  g_autoptr (GError) reason = NULL;

  if (spdl_body_stream_read (self->body_stream, data, size, &reason))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ, "Failed to read \"%s\": %s",
      self->name, reason->message);
}

gboolean
spdl_remote_stream (gpointer client, const gchar *uri, SpdlSampleFunc func,
    gpointer user_data, GError **error)
{
  Client *self = client;
  g_autofree gchar *name = make_name (uri);
  Stream stream = { spdl_body_stream_new (STREAM_ROOM), name };
  const SpdlArchiveInput input = { name, read_stream, &stream };
  gboolean ok;

  spdl_http_fetch_stream (
      self->http, uri, self->cancellable, stream.body_stream);
  ok = spdl_archive_stream (&input, func, user_data, error);
  spdl_body_stream_close (stream.body_stream);
  spdl_body_stream_free (stream.body_stream);
  return ok;
}

void
spdl_remote_cancel (gpointer client)
{
  g_cancellable_cancel (((Client *) client)->cancellable);
}
