/* gst-spdl: retry policy of HTTP requests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* Returns whether a response status is temporary. */
gboolean spdl_retry_is_status (guint status);

/* Returns whether @error, of a request or its response, is temporary. */
gboolean spdl_retry_is_error (const GError *error);

/* Returns the delay before retry @n, starting at 1, in us: exponential backoff
 * with jitter between a half and the whole, so that requests that failed
 * together are not retried together. */
gint64 spdl_retry_get_delay (guint n);

/* Returns the delay of a Retry-After header, in us; 0 if there is none. */
gint64 spdl_retry_get_asked (SoupMessageHeaders *headers);

G_END_DECLS
