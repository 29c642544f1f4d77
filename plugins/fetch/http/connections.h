/* gst-spdl: connections of HTTP/2 that were closed
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Remembers the connection of HTTP/2 that libsoup opens for @message, for all
 * messages that use it. Call it before @message is sent. */
void spdl_connections_watch (SoupSession *session, SoupMessage *message);

/* Returns whether the server has closed the connection of @message, of whose
 * body no data has arrived for a while. */
gboolean spdl_connections_is_lost (SoupSession *session, SoupMessage *message);

/* Shuts the connection of HTTP/2 of @message down, if it has one, which ends
 * all requests on it. */
void spdl_connections_break (SoupSession *session, SoupMessage *message);

G_END_DECLS
