/* gst-spdl-launch: HTTP server for the statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/prometheus.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_REQUEST 8192
#define TIMEOUT 5 /* s for a client that does not read or write */
#define MAX_CLIENTS 4

struct _Exporter {
  GSocketService *service;
  guint16 port;
  GMutex lock;
  gchar *text;
};

/* Reads a request up to its empty line. Returns NULL if there is none. */
static gchar *
read_request (GInputStream *in)
{
  GString *request = g_string_new (NULL);

  while (request->len < MAX_REQUEST) {
    gchar buffer[1024];
    const gssize n =
        g_input_stream_read (in, buffer, sizeof buffer, NULL, NULL);

    if (n <= 0)
      break;
    g_string_append_len (request, buffer, n);
    if (strstr (request->str, "\r\n\r\n"))
      return g_string_free (request, FALSE);
  }
  g_string_free (request, TRUE);
  return NULL;
}

static gchar *
make_answer (Exporter *self, const gchar *request)
{
  const gboolean get = g_str_has_prefix (request, "GET ");
  const gboolean known = get && (g_str_has_prefix (request, "GET /metrics ") ||
                                    g_str_has_prefix (request, "GET / "));
  const gchar *status = known ? "200 OK"
                        : get ? "404 Not Found"
                              : "405 Method Not Allowed";
  g_autofree gchar *body = NULL;

  g_mutex_lock (&self->lock);
  body = g_strdup (known ? self->text : "see /metrics\n");
  g_mutex_unlock (&self->lock);
  return g_strdup_printf (
      "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4\r\n"
      "Content-Length: %" G_GSIZE_FORMAT "\r\nConnection: close\r\n\r\n%s",
      status, strlen (body), body);
}

static gboolean
on_client (GThreadedSocketService *service, GSocketConnection *connection,
    GObject *source, gpointer user_data)
{
  GIOStream *stream = G_IO_STREAM (connection);
  g_autofree gchar *request = NULL;

  g_socket_set_timeout (g_socket_connection_get_socket (connection), TIMEOUT);
  request = read_request (g_io_stream_get_input_stream (stream));
  if (request) {
    g_autofree gchar *answer = make_answer (user_data, request);

    g_output_stream_write_all (g_io_stream_get_output_stream (stream), answer,
        strlen (answer), NULL, NULL, NULL);
  }
  g_io_stream_close (stream, NULL, NULL);
  return TRUE;
}

static void
clear_metric (gpointer data)
{
  Exporter *self = data;

  g_free (self->text);
  g_mutex_clear (&self->lock);
}

static void
release_closure (gpointer data, GClosure *closure)
{
  g_atomic_rc_box_release_full (data, clear_metric);
}

Exporter *
exporter_new (guint16 port, GError **error)
{
  Exporter *self = g_atomic_rc_box_new0 (Exporter);
  g_autoptr (GSocketAddress) address =
      g_inet_socket_address_new_from_string ("127.0.0.1", port);
  g_autoptr (GSocketAddress) effective = NULL;

  g_mutex_init (&self->lock);
  self->text = g_strdup ("");
  self->service = g_threaded_socket_service_new (MAX_CLIENTS);
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service),
          address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
          &effective, error)) {
    g_prefix_error (error, "port %u: ", port);
    exporter_free (self);
    return NULL;
  }
  self->port =
      g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (effective));
  /* A client's thread may outlive the owner of the exporter. */
  g_signal_connect_data (self->service, "run", G_CALLBACK (on_client),
      g_atomic_rc_box_acquire (self), release_closure, 0);
  g_socket_service_start (self->service);
  return self;
}

void
exporter_free (Exporter *self)
{
  g_signal_handlers_disconnect_by_data (self->service, self);
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  g_clear_object (&self->service);
  g_atomic_rc_box_release_full (self, clear_metric);
}

guint16
exporter_get_port (Exporter *self)
{
  return self->port;
}

void
exporter_set_text (Exporter *self, gchar *text)
{
  g_mutex_lock (&self->lock);
  g_free (self->text);
  self->text = text;
  g_mutex_unlock (&self->lock);
}
