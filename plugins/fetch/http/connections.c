/* gst-spdl: connections of HTTP/2 that were closed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/connections.h"

#include <errno.h>
#include <sys/socket.h>

/* libsoup does not end a read of an HTTP/2 body when the server closes the
 * connection: 3.2.3 was measured to wait without end, and the source up
 * to 3.6.5 tells only requests without a response head (io_read_ready() of
 * soup-client-message-io-http2.c). Its API names a connection by a number only,
 * so the socket is taken from the event of the TLS handshake. */

#define KEY "spdl-connections"

static gboolean
is_closed (gpointer id, gpointer socket, gpointer data)
{
  return g_socket_is_closed (socket);
}

static void
on_network_event (SoupMessage *message, GSocketClientEvent event,
    GIOStream *connection, gpointer session)
{
  GHashTable *sockets;
  g_autoptr (GIOStream) base = NULL;

  if (event != G_SOCKET_CLIENT_TLS_HANDSHAKED ||
      !G_IS_TLS_CONNECTION (connection) ||
      g_strcmp0 (g_tls_connection_get_negotiated_protocol (
                     G_TLS_CONNECTION (connection)),
          "h2") != 0)
    return;
  g_object_get (connection, "base-io-stream", &base, NULL);
  if (!G_IS_SOCKET_CONNECTION (base))
    return;
  sockets = g_object_get_data (session, KEY);
  if (!sockets) {
    sockets = g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
    g_object_set_data_full (
        session, KEY, sockets, (GDestroyNotify) g_hash_table_unref);
  }
  g_hash_table_foreach_remove (sockets, is_closed, NULL);
  g_hash_table_replace (sockets,
      GSIZE_TO_POINTER (soup_message_get_connection_id (message)),
      g_object_ref (
          g_socket_connection_get_socket (G_SOCKET_CONNECTION (base))));
}

void
spdl_connections_watch (SoupSession *session, SoupMessage *message)
{
  g_signal_connect (
      message, "network-event", G_CALLBACK (on_network_event), session);
}

/* Returns: (nullable): the socket of the message's connection of HTTP/2 */
static GSocket *
find_socket (SoupSession *session, SoupMessage *message)
{
  GHashTable *sockets = g_object_get_data (G_OBJECT (session), KEY);

  return sockets
             ? g_hash_table_lookup (sockets,
                   GSIZE_TO_POINTER (soup_message_get_connection_id (message)))
             : NULL;
}

void
spdl_connections_break (SoupSession *session, SoupMessage *message)
{
  GSocket *socket = find_socket (session, message);

  if (socket && !g_socket_is_closed (socket))
    g_socket_shutdown (socket, TRUE, TRUE, NULL);
}

gboolean
spdl_connections_is_lost (SoupSession *session, SoupMessage *message)
{
  GSocket *socket = find_socket (session, message);
  gchar byte;
  gssize n;

  if (!socket || g_socket_is_closed (socket))
    return socket != NULL;
  n = recv (g_socket_get_fd (socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 ||
         (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}
