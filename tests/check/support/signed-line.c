/* gst-spdl: signature of a request given as a line of text
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/signed-line.h"

#include <libsoup/soup.h>

#include "plugins/fetch/store/sigv4.h"

gchar *
signed_line (const gchar *line)
{
  g_auto (GStrv) fields = g_strsplit (line, "\t", -1);
  SoupMessageHeaders *headers;
  SpdlSigV4Key key;
  gchar *text;

  if (g_strv_length (fields) < SIGNED_LINE_FIELDS)
    return NULL;
  key = (SpdlSigV4Key){
    .access_key = fields[0],
    .secret_key = fields[1],
    .session_token = *fields[2] ? fields[2] : NULL,
    .region = fields[3],
    .service = fields[4],
  };
  headers = soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  if (*fields[10])
    soup_message_headers_append (headers, "Range", fields[10]);
  /* These headers must not become part of the signature. */
  soup_message_headers_append (headers, "User-Agent", "tests");
  soup_message_headers_append (headers, "Accept-Encoding", "identity");
  spdl_sigv4_sign (&key, fields[5], fields[6], fields[7],
      *fields[8] ? fields[8] : NULL, g_ascii_strtoll (fields[9], NULL, 10),
      headers);
  text = g_strdup (soup_message_headers_get_one (headers, "Authorization"));
  soup_message_headers_unref (headers);
  return text;
}
