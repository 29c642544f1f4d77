/* gst-spdl: requests to services that issue credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/metadataservice.h"

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/showntext.h"
#include "plugins/fetch/io/cafile.h"
#include "plugins/fetch/io/environment.h"
#include "plugins/fetch/io/proxy.h"
#include "plugins/fetch/io/soup.h"

#define MAX_SIZE (64 * 1024)
#define BLOCK_SIZE (4 * 1024)
#define RETRY_DELAY (100 * G_TIME_SPAN_MILLISECOND)
/* Minimum remaining time for a retry. */
#define MIN_TIME (50 * G_TIME_SPAN_MILLISECOND)

#define TIME_LIMIT (1900 * G_TIME_SPAN_MILLISECOND)
#define PUBLIC_TIME_LIMIT (10 * G_TIME_SPAN_SECOND)

typedef struct {
  GMainContext *context;
  SoupSession *session;
  gint64 time_limit;
} Client;

/* One request and its response, in the client's context. */
typedef struct {
  Client *client;
  SoupMessage *message;
  GInputStream *stream; /* nullable */
  GCancellable *cancellable;
  GSource *cancel_later; /* nullable */
  GByteArray *body;
  guint8 block[BLOCK_SIZE];
  guint n_informational; /* responses before the actual one (1xx) */
  gboolean timed_out;
  gboolean too_large;
  gboolean done;
  GError *error; /* nullable */
} Exchange;

void
spdl_metadata_answer_clear (SpdlMetadataAnswer *self)
{
  g_clear_pointer (&self->body, g_free);
  g_clear_object (&self->message);
}

gchar *
spdl_metadata_dup_origin (const gchar *uri)
{
  g_autoptr (GUri) parsed = g_uri_parse (uri, SOUP_HTTP_URI_FLAGS, NULL);
  g_autoptr (GUri) origin = NULL;
  gchar *text;

  if (!parsed || !g_uri_get_host (parsed))
    return g_strdup ("a service without a valid address");
  origin = g_uri_build (SOUP_HTTP_URI_FLAGS, g_uri_get_scheme (parsed), NULL,
      g_uri_get_host (parsed), g_uri_get_port (parsed), "", NULL, NULL);
  text = g_uri_to_string (origin);
  if (g_str_has_suffix (text, "/"))
    text[strlen (text) - 1] = '\0';
  return text;
}

static gboolean
use_public_network (SoupSession *session, GError **error)
{
  g_autoptr (GTlsDatabase) database = NULL;
  SpdlProxies proxies;

  if (!spdl_ca_file_open (spdl_environment_get ("AWS_CA_BUNDLE"),
          "AWS_CA_BUNDLE", &database, error) ||
      !spdl_proxies_init (&proxies, error))
    return FALSE;
  spdl_proxies_apply (&proxies, session);
  spdl_proxies_clear (&proxies);
  if (database)
    soup_session_set_tls_database (session, database);
  return TRUE;
}

static void
client_init (Client *self, gboolean is_public)
{
  self->time_limit = is_public ? PUBLIC_TIME_LIMIT : TIME_LIMIT;
  self->context = g_main_context_new ();
  g_main_context_push_thread_default (self->context);
  self->session = soup_session_new_with_options (
      "user-agent", "gst-spdl/" PACKAGE_VERSION, "timeout", 0, NULL);
  if (!is_public)
    soup_session_set_proxy_resolver (self->session, NULL);
}

static void
client_clear (Client *self)
{
  /* Pending operations of the session refer to it. */
  while (g_main_context_iteration (self->context, FALSE))
    ;
  g_clear_object (&self->session);
  while (g_main_context_iteration (self->context, FALSE))
    ;
  g_main_context_pop_thread_default (self->context);
  g_main_context_unref (self->context);
}

/* The exchange */

static gboolean
on_cancel_later (gpointer data)
{
  Exchange *self = data;

  g_cancellable_cancel (self->cancellable);
  return G_SOURCE_REMOVE;
}

/* Cancels at a moment that is safe with libsoup before 3.6.6, see cancel_try()
 * of request.c. */
static gboolean
on_deadline (gpointer data)
{
  Exchange *self = data;

  self->timed_out = TRUE;
  if (self->stream || soup_message_get_status (self->message) == 0) {
    g_cancellable_cancel (self->cancellable);
  } else {
    self->cancel_later = g_idle_source_new ();
    g_source_set_callback (self->cancel_later, on_cancel_later, self, NULL);
    g_source_attach (self->cancel_later, self->client->context);
  }
  return G_SOURCE_REMOVE;
}

/* Ends an exchange whose service sends responses 1xx without end. Cancelling is
 * safe here, see on_informational() of request.c. */
static void
on_informational (SoupMessage *message, gpointer data)
{
  Exchange *self = data;

  if (++self->n_informational < SPDL_MAX_INFORMATIONAL)
    return;
  self->timed_out = TRUE;
  g_cancellable_cancel (self->cancellable);
}

static void
on_closed (GObject *stream, GAsyncResult *result, gpointer data)
{
  Exchange *self = data;

  g_input_stream_close_finish (G_INPUT_STREAM (stream), result, NULL);
  self->done = TRUE;
}

static void
close_stream (Exchange *self)
{
  g_input_stream_close_async (
      self->stream, G_PRIORITY_DEFAULT, self->cancellable, on_closed, self);
}

static void read_more (Exchange *self);

static void
on_read (GObject *stream, GAsyncResult *result, gpointer data)
{
  Exchange *self = data;
  const gssize n = g_input_stream_read_finish (
      G_INPUT_STREAM (stream), result, &self->error);

  if (n > 0)
    g_byte_array_append (self->body, self->block, n);
  self->too_large = self->body->len > MAX_SIZE;
  if (self->too_large)
    g_cancellable_cancel (self->cancellable);
  if (n > 0 && !self->too_large && !self->timed_out)
    read_more (self);
  else
    close_stream (self);
}

/* Unlike the client of items, trusts libsoup to find the end of chunks: a part
 * of a document is not valid, and a part of a token or name is refused. */
static void
read_more (Exchange *self)
{
  g_input_stream_read_async (self->stream, self->block, sizeof self->block,
      G_PRIORITY_DEFAULT, self->cancellable, on_read, self);
}

static void
on_response (GObject *session, GAsyncResult *result, gpointer data)
{
  Exchange *self = data;

  self->stream =
      soup_session_send_finish (SOUP_SESSION (session), result, &self->error);
  if (!self->stream) {
    self->done = TRUE;
  } else if (self->timed_out) {
    g_cancellable_cancel (self->cancellable);
    close_stream (self);
  } else {
    read_more (self);
  }
}

static void
destroy_source (GSource **source)
{
  if (!*source)
    return;
  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
run_exchange (Exchange *self, gint64 deadline)
{
  const gint64 left = MAX (deadline - g_get_monotonic_time (), 0);
  GSource *timer = g_timeout_source_new (left / G_TIME_SPAN_MILLISECOND);

  g_source_set_callback (timer, on_deadline, self, NULL);
  g_source_attach (timer, self->client->context);
  self->cancellable = g_cancellable_new ();
  g_signal_connect (
      self->message, "got-informational", G_CALLBACK (on_informational), self);
  soup_session_send_async (self->client->session, self->message,
      SPDL_SOUP_PRIORITY, self->cancellable, on_response, self);
  while (!self->done)
    g_main_context_iteration (self->client->context, TRUE);
  destroy_source (&timer);
  destroy_source (&self->cancel_later);
  g_signal_handlers_disconnect_by_data (self->message, self);
  g_clear_object (&self->stream);
  g_clear_object (&self->cancellable);
}

/* Requests */

static void
add_header (const gchar *name, const gchar *value, gpointer headers)
{
  soup_message_headers_replace (headers, name, value);
}

static SoupMessage *
make_message (const SpdlMetadataRequest *request, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (request->uri, SOUP_HTTP_URI_FLAGS, NULL);
  g_autoptr (GBytes) form = NULL;
  SoupMessage *message;

  if (!uri || !g_uri_get_host (uri) || !*g_uri_get_host (uri) ||
      (!g_str_equal (g_uri_get_scheme (uri), "http") &&
          !g_str_equal (g_uri_get_scheme (uri), "https"))) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The address of a service for credentials is not a valid http or https "
        "URI");
    return NULL;
  }
  message = soup_message_new_from_uri (request->method, uri);
  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT);
  spdl_http1_require (message);
  if (request->header)
    soup_message_headers_replace (soup_message_get_request_headers (message),
        request->header, request->header_value);
  if (request->headers)
    soup_message_headers_foreach (request->headers, add_header,
        soup_message_get_request_headers (message));
  if (request->form) {
    form = g_bytes_new (request->form, strlen (request->form));
    soup_message_set_request_body_from_bytes (
        message, SOUP_FORM_MIME_TYPE_URLENCODED, form);
  } else if (g_str_equal (request->method, "PUT")) {
    form = g_bytes_new (NULL, 0);
    soup_message_set_request_body_from_bytes (message, NULL, form);
  }
  return message;
}

/* Returns whether a retry may succeed. A refused connection or a missing route
 * is permanent. */
static gboolean
is_temporary (const Exchange *self)
{
  const guint status = soup_message_get_status (self->message);

  if (self->timed_out || self->too_large)
    return FALSE;
  if (!self->error)
    return status >= 500 || status == 429;
  return self->error->domain != G_TLS_ERROR &&
         self->error->domain != G_RESOLVER_ERROR &&
         !g_error_matches (
             self->error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED) &&
         !g_error_matches (
             self->error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE) &&
         !g_error_matches (
             self->error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE);
}

static void
set_error (const Exchange *self, const gchar *uri, GError **error)
{
  const gdouble limit = self->client->time_limit / (gdouble) G_TIME_SPAN_SECOND;
  g_autofree gchar *origin = spdl_metadata_dup_origin (uri);

  if (self->timed_out)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "%s did not respond within %g s", origin, limit);
  else if (self->too_large)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "%s sent a response of more than %d bytes", origin, MAX_SIZE);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "Request to %s failed: %s", origin, self->error->message);
}

/* Returns FALSE, with @error set or not, if there was no response. */
static gboolean
try_request (Client *self, const SpdlMetadataRequest *request, gint64 deadline,
    gboolean last, SpdlMetadataAnswer *answer, GError **error)
{
  Exchange exchange = { self };
  gboolean ok;

  exchange.message = make_message (request, error);
  if (!exchange.message)
    return FALSE;
  exchange.body = g_byte_array_new ();
  run_exchange (&exchange, deadline);
  if (exchange.error)
    spdl_show_error (exchange.error);
  ok = !exchange.error && !exchange.timed_out && !exchange.too_large;
  if (is_temporary (&exchange) && !last) {
    ok = FALSE;
  } else if (!ok) {
    set_error (&exchange, request->uri, error);
  } else {
    answer->status = soup_message_get_status (exchange.message);
    answer->size = exchange.body->len;
    g_byte_array_append (exchange.body, (const guint8 *) "", 1);
    answer->body =
        (gchar *) g_byte_array_free (g_steal_pointer (&exchange.body), FALSE);
    answer->message = g_object_ref (exchange.message);
  }
  g_clear_pointer (&exchange.body, g_byte_array_unref);
  g_clear_error (&exchange.error);
  g_object_unref (exchange.message);
  return ok;
}

static gboolean
ask_twice (Client *self, const SpdlMetadataRequest *request,
    SpdlMetadataAnswer *answer, GError **error)
{
  const gint64 deadline = g_get_monotonic_time () + self->time_limit;
  GError *reason = NULL;

  if (try_request (self, request, deadline, FALSE, answer, &reason))
    return TRUE;
  if (reason) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  g_usleep (RETRY_DELAY);
  return try_request (self, request,
      MAX (deadline, g_get_monotonic_time () + MIN_TIME), TRUE, answer, error);
}

gboolean
spdl_metadata_ask (const SpdlMetadataRequest *request,
    SpdlMetadataAnswer *answer, GError **error)
{
  Client client;
  gboolean ok;

  *answer = (SpdlMetadataAnswer){ 0 };
  client_init (&client, request->is_public);
  ok = (!request->is_public || use_public_network (client.session, error)) &&
       ask_twice (&client, request, answer, error);
  client_clear (&client);
  return ok;
}
