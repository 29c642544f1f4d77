/* gst-spdl: requests of libsoup that are safe with each of its versions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/soup.h"

/* The handshake then accepts no other protocol. libsoup has
 * soup_message_set_force_http1() only from 3.4 on. */
static void
on_network_event (SoupMessage *message, GSocketClientEvent event,
    GIOStream *connection, gpointer data)
{
  static const gchar *const protocols[] = { "http/1.1", NULL };

  if (event == G_SOCKET_CLIENT_TLS_HANDSHAKING)
    g_tls_connection_set_advertised_protocols (
        G_TLS_CONNECTION (connection), protocols);
}

void
spdl_http1_require (SoupMessage *message)
{
  g_signal_connect (
      message, "network-event", G_CALLBACK (on_network_event), NULL);
}
