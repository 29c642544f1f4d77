/* gst-spdl: requests of libsoup that are safe with each of its versions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* libsoup repeats a request if a persistent connection was closed. A callback
 * for the end of the first attempt, an idle source of the request's priority,
 * must run before libsoup's queue, which has the default priority, starts the
 * second one. Otherwise the callback ends the second attempt; libsoup 3.4.0 to
 * 3.6.5 then frees the request twice
 * (docs/explanation/libsoup-cancellation.md). */
#define SPDL_SOUP_PRIORITY (G_PRIORITY_DEFAULT - 1)

/* Maximum number of responses 1xx before the actual one. libsoup reads them in
 * one dispatch as long as they keep coming, and nothing else happens on its
 * thread. */
#define SPDL_MAX_INFORMATIONAL 64

/* Does not offer HTTP/2 to the server of @message, since libsoup lets a server
 * of HTTP/2 hold its thread and fill the memory without end
 * (docs/explanation/decisions/fetch.md). Call it before @message is sent. */
void spdl_http1_require (SoupMessage *message);

G_END_DECLS
