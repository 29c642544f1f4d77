/* gst-spdl: retry policy of HTTP requests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/retry.h"

#include <string.h>

#define FIRST_DELAY (500 * G_TIME_SPAN_MILLISECOND)
#define MAX_DELAY (30 * G_TIME_SPAN_SECOND)

gboolean
spdl_retry_is_status (guint status)
{
  return status == SOUP_STATUS_REQUEST_TIMEOUT || status == 425 ||
         status == 429 || status >= 500;
}

gboolean
spdl_retry_is_error (const GError *error)
{
  /* Errors of certificates and URIs are permanent. A connection that is reset
   * during the handshake counts as one to a peer without TLS. */
  if (error->domain == G_TLS_ERROR)
    return error->code == G_TLS_ERROR_EOF || error->code == G_TLS_ERROR_MISC ||
           error->code == G_TLS_ERROR_NOT_TLS;
  if (error->domain == SOUP_SESSION_ERROR)
    return error->code == SOUP_SESSION_ERROR_PARSING ||
           error->code == SOUP_SESSION_ERROR_ENCODING;
  if (error->domain == G_RESOLVER_ERROR)
    return error->code == G_RESOLVER_ERROR_TEMPORARY_FAILURE;
  if (error->domain == G_IO_ERROR)
    return error->code != G_IO_ERROR_INVALID_ARGUMENT &&
           error->code != G_IO_ERROR_NOT_SUPPORTED &&
           error->code != G_IO_ERROR_PERMISSION_DENIED;
  return FALSE;
}

gint64
spdl_retry_get_delay (guint n)
{
  gint64 delay = FIRST_DELAY;

  for (guint i = 1; i < n && delay < MAX_DELAY; i++)
    delay *= 2;
  return MIN (delay, MAX_DELAY) * g_random_double_range (0.5, 1.0);
}

gint64
spdl_retry_get_asked (SoupMessageHeaders *headers)
{
  const gchar *text = soup_message_headers_get_one (headers, "Retry-After");
  g_autoptr (GDateTime) date = NULL;
  g_autoptr (GDateTime) now = NULL;
  guint64 seconds;

  if (!text)
    return 0;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT32, &seconds, NULL))
    return seconds * G_TIME_SPAN_SECOND;
  date = soup_date_time_new_from_http_string (text);
  if (!date)
    return 0;
  now = g_date_time_new_now_utc ();
  return MAX (g_date_time_difference (date, now), 0);
}
