/* gst-spdl: schemes of URIs and of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* Returns TRUE for SCHEME://..., and FALSE for a path, whose bytes have no
 * other meaning. */
static inline gboolean
spdl_uri_has_scheme (const gchar *text)
{
  const gchar *at = text;

  if (!g_ascii_isalpha (*at))
    return FALSE;
  while (g_ascii_isalnum (*at) || *at == '+' || *at == '-' || *at == '.')
    at++;
  return strncmp (at, "://", 3) == 0;
}

/* s3://bucket/key, gs://bucket/key and hf://datasets/owner/name@revision/path.
 * A key is written without escapes, and has no query or fragment.
 * s3://bucket?QUERY is a page of a listing. */

static inline gboolean
spdl_store_is_uri (const gchar *text)
{
  return g_ascii_strncasecmp (text, "s3://", 5) == 0 ||
         g_ascii_strncasecmp (text, "gs://", 5) == 0 ||
         g_ascii_strncasecmp (text, "hf://", 5) == 0;
}

/* Returns TRUE if @text is a URI for the HTTP client. */
static inline gboolean
spdl_store_is_remote (const gchar *text)
{
  return g_ascii_strncasecmp (text, "http://", 7) == 0 ||
         g_ascii_strncasecmp (text, "https://", 8) == 0 ||
         spdl_store_is_uri (text);
}

/* Returns the length of the part of a store's URI that names the bucket, or the
 * dataset hf://datasets/owner/name without its revision. */
static inline gsize
spdl_store_measure_bucket (const gchar *uri)
{
  gsize n = strlen ("s3://");

  if (g_ascii_strncasecmp (uri, "hf:", 3) != 0)
    return n + strcspn (uri + n, "/?");
  for (guint i = 0; i < 2; i++) {
    n += strcspn (uri + n, "/");
    n += uri[n] == '/';
  }
  return n + strcspn (uri + n, "/?@");
}

/* Returns the length of the revision of a dataset at the beginning of @text,
 * with its "@"; 0 if there is none. A revision is one word, or has the form
 * refs/convert/WORD or refs/pr/NUMBER. */
static inline gsize
spdl_store_measure_revision (const gchar *text)
{
  gsize n;

  if (*text != '@')
    return 0;
  n = strcspn (text, "/?");
  if (g_str_has_prefix (text, "@refs/convert/") ||
      g_str_has_prefix (text, "@refs/pr/")) {
    n += 1 + strcspn (text + n + 1, "/");
    n += 1 + strcspn (text + n + 1, "/?");
  }
  return n;
}

/* Returns the length of a path or URI without query and fragment, which only
 * HTTP(S) URIs have. */
static inline gsize
spdl_uri_measure_name (const gchar *text)
{
  return spdl_store_is_remote (text) && !spdl_store_is_uri (text)
             ? strcspn (text, "?#")
             : strlen (text);
}

G_END_DECLS
