/* gst-spdl: requests over HTTP/1.1 only
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Does not offer HTTP/2 to the server of @message, since libsoup lets a server
 * of HTTP/2 hold its thread and fill the memory without end
 * (docs/explanation/decisions/fetch.md). Call it before @message is sent. */
void spdl_http1_require (SoupMessage *message);

G_END_DECLS
